package tidy

import (
	"path"
	"slices"
	"strings"
)

// leakLooks are the ways in which a package's tests can end with a look for goroutines that are left.
var leakLooks = []string{"goleak.VerifyTestMain(", "goleak.Find(", "brokers.Run(m"}

// leakLaw: a test that leaves something running fails its package, in every package.
func leakLaw(r tree) (complaints []string) {
	looks := map[string]bool{}
	for _, name := range r.names(isGo, isTest) {
		found := slices.ContainsFunc(leakLooks, func(look string) bool { return strings.Contains(r[name], look) })
		looks[path.Dir(name)] = looks[path.Dir(name)] || found
	}
	for _, name := range r.names(isGo, isTest) {
		if dir := path.Dir(name); !looks[dir] {
			looks[dir] = true
			complaints = append(complaints, dir+": its tests never look for goroutines that are left; give it a TestMain with goleak")
		}
	}
	return complaints
}

var leakPlants = []planted{{
	"one that looks and one that does not",
	tree{
		"a/a_test.go": "package a\n", "a/main_test.go": "package a\n\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }\n",
		"b/b_test.go": "package b\n", "b/c_test.go": "package b\n", "c/c.go": "package c\n",
	},
	[]string{"b: its tests never look for goroutines that are left; give it a TestMain with goleak"},
}}
