// Package invariant holds checks that are compiled in where bugs are hunted and cost nothing where they are not.
//
// With the build tag race (which -race sets) or invariant, Enabled is true and a false Check panics: a broken
// invariant is a bug of ours, and going on would only move the damage. Without a tag Enabled is a false constant, so
// Check is an empty body that the compiler inlines away. A check whose condition itself is dear stands behind
// "if invariant.Enabled { … }", which is then dead code in an ordinary build.
//
// The room refuses to handle errors: whatever a broker, a network or a user can cause is an error value, never a
// check here.
package invariant
