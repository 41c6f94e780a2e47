package oracle

import (
	"slices"
	"strings"
	"testing"
)

// A Rule is a deliberate difference from the Java producer: a kind of case, never one instance.
type Rule[C any] struct {
	Name   string
	Reason string
	// Matches says whether the difference applies to the case.
	Matches func(c C) bool
	// Instead asserts what linger does in that case; it fails t when linger does something else.
	Instead func(t *testing.T, c C)
}

// Limit of rules a set: more than a dozen differences are no longer exceptions.
const maxRules = 12

// Run runs each case as a subtest named by id: against the rule that matches it, else against same. It prints which
// ids each rule took, and fails when two rules take one case.
func Run[C any](t *testing.T, cases []C, id func(C) string, rules []Rule[C], same func(t *testing.T, c C)) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("the set holds no case")
	}
	if len(rules) > maxRules {
		t.Fatalf("%d rules of difference, at most %d are allowed", len(rules), maxRules)
	}
	matched := make(map[string][]string)
	for _, c := range cases {
		check := same
		by := ""
		for _, r := range rules {
			if !r.Matches(c) {
				continue
			}
			if by != "" {
				t.Errorf("case %s: rules %q and %q both match", id(c), by, r.Name)
			}
			by, check = r.Name, r.Instead
			matched[r.Name] = append(matched[r.Name], id(c))
		}
		t.Run(id(c), func(t *testing.T) { check(t, c) })
	}
	names := make([]string, 0, len(matched))
	for name := range matched {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("rule %q took %d cases: %s", name, len(matched[name]), strings.Join(matched[name], " "))
	}
}
