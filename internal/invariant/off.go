//go:build !race && !invariant

package invariant

// Enabled says whether checks are compiled in.
const Enabled = false

// Check does nothing in this build. Its arguments are still evaluated, so a dear condition belongs behind Enabled.
func Check(bool, string, ...any) {}
