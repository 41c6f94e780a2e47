// Configgen writes what follows from the table of options in internal/config: options_gen.go in the root package, one
// typed option a key, and docs/CONFIG.md, the table for readers.
//
// Usage, from the repository's root: configgen [-options options_gen.go] [-doc docs/CONFIG.md]
//
// Both files stand in the repository, so that nothing needs to be generated to build; a test here fails when one of
// them no longer follows from the table.
package main
