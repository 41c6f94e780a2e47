package invariant

import "testing"

func TestBrokenInvariantPanicsExactlyWhenEnabled(t *testing.T) {
	tests := map[string]struct {
		ok        bool
		wantPanic bool
	}{
		"a true claim never panics":         {ok: true},
		"a false claim panics when enabled": {ok: false, wantPanic: Enabled},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			const want = "broken invariant: 3 batches, at most 2"
			defer func() {
				got := recover()
				if (got != nil) != tt.wantPanic {
					t.Fatalf("Check(%t) panicked with %v, want a panic: %t", tt.ok, got, tt.wantPanic)
				}
				if got != nil && got != want {
					t.Errorf("panic says %q, want %q", got, want)
				}
			}()
			Check(tt.ok, "%d batches, at most %d", 3, 2)
		})
	}
}

func TestCheckIsFreeWhenDisabled(t *testing.T) {
	if Enabled {
		t.Skip("checks are compiled in")
	}
	count := 4
	if got := testing.AllocsPerRun(100, func() { Check(count > 2, "count is %d", count) }); got != 0 {
		t.Errorf("Check allocates %v times, want 0", got)
	}
}
