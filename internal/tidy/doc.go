// Package tidy holds the few laws of the tree that bite: they are tests, so a change that breaks one fails the build.
//
// The room owns nothing that ships: there is no code here outside test files. It refuses to judge taste (gofmt, the linters
// and reviewers do that) and only reports file sizes.
//
// The plain version: read every text file of the repository into a map from path to content, and hand that to each law,
// which answers with what it doesn't like. A law that finds nothing in the tree might be blind, so next to each law stand
// small trees, made up in memory, that break it, with the exact complaint it must make about them.
//
//	floors_test.go    a package imports lower floors only; who may import net, sync, compression, math/rand
//	code_test.go      no wall clock, global rand, init, package state or sleeps where they don't belong; a doc.go each
//	modules_test.go   every module is in go.work, reached by `make test`, and finds its siblings
//	text_test.go      no machine's paths, no registry's hosts; at most five row IDs a comment line
//	tree_test.go      the tree, and the test that runs all laws on it
package tidy
