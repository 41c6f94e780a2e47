//go:build race || invariant

package invariant

import "fmt"

// Enabled says whether checks are compiled in.
const Enabled = true

// Check panics when ok is false. The message is format with args, as fmt.Sprintf makes it.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("broken invariant: " + fmt.Sprintf(format, args...))
	}
}
