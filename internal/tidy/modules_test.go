package tidy

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func isMod(name string) bool {
	return path.Base(name) == "go.mod" && !strings.Contains(name, "testdata/")
}

// statements are the arguments of a keyword in a go.mod or go.work, one by one, whether they stand alone or in a block.
func statements(text, keyword string) (args [][]string) {
	inBlock := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case inBlock && f[0] == ")":
			inBlock = false
		case inBlock:
			args = append(args, f)
		case f[0] == keyword && len(f) > 1 && f[1] == "(":
			inBlock = true
		case f[0] == keyword:
			args = append(args, f[1:])
		}
	}
	return args
}

// moduleLaw: `make test` runs linger/... in the workspace. So a module is tested if go.work uses it, its path begins with
// linger/, and the two commands are what they were.
func moduleLaw(r tree) (complaints []string) {
	var used []string
	for _, u := range statements(r["go.work"], "use") {
		used = append(used, path.Clean(u[0]))
	}
	for _, name := range r.names(isMod) {
		if !slices.Contains(used, path.Dir(name)) {
			complaints = append(complaints, name+" is not in go.work")
		}
		module := fmt.Sprint(statements(r[name], "module"))
		if want := path.Join("linger", path.Dir(name)); module != "[["+want+"]]" {
			complaints = append(complaints, fmt.Sprintf("%s: module %s, want %s, or linger/... may miss it", name, module, want))
		}
	}
	if rule := section(r["Makefile"], "test:"); !strings.Contains(rule, "go test") || !strings.Contains(rule, "linger/...") {
		complaints = append(complaints, "Makefile: test does not run go test over linger/...")
	}
	if !slices.ContainsFunc(strings.Split(r[".ci/run"], "\n"), func(line string) bool {
		return strings.HasPrefix(line, "step ") && strings.Contains(line, "make test")
	}) {
		complaints = append(complaints, ".ci/run does not run make test")
	}
	return complaints
}

// section is a Makefile's rule for a target: its line and the recipe.
func section(text, target string) string {
	var rule []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, target):
			rule = append(rule, line)
		case len(rule) > 0 && strings.HasPrefix(line, "\t"):
			rule = append(rule, line)
		case len(rule) > 0:
			return strings.Join(rule, "")
		}
	}
	return strings.Join(rule, "")
}

var goodRunners = tree{"Makefile": "test: prereqs\n\tgo test linger/...\n\nother:\n", ".ci/run": "step test make test\n"}

func with(base, more tree) tree {
	all := tree{}
	for _, t := range []tree{base, more} {
		for name, text := range t {
			all[name] = text
		}
	}
	return all
}

var modulePlants = []planted{
	{"one left out, one misnamed", with(goodRunners, tree{
		"go.work": "go 1.26\nuse (\n.\n./a\n./b\n)\n", "go.mod": "module linger\n", "a/go.mod": "module linger/a\n",
		"b/go.mod": "module other\n", "c/go.mod": "module linger/c\n", "x/testdata/go.mod": "module y\n",
	}), []string{"b/go.mod: module [[other]], want linger/b, or linger/... may miss it", "c/go.mod is not in go.work"}},
	{"tests that run no longer", tree{"go.work": "go 1.26\nuse .\n", "Makefile": "test:\n\techo\nother:\n\tgo test linger/...\n", ".ci/run": "# step make test\n"},
		[]string{"Makefile: test does not run go test over linger/...", ".ci/run does not run make test"}},
}

// replaceLaw: a module that needs another of ours finds it by a relative path, with and without the workspace.
func replaceLaw(r tree) (complaints []string) {
	for _, name := range r.names(isMod) {
		replaced := statements(r[name], "replace")
		for _, req := range statements(r[name], "require") {
			rest, ours := strings.CutPrefix(req[0]+"/", "linger/")
			if !ours {
				continue
			}
			want, _ := filepath.Rel(path.Dir(name), path.Join(".", rest)) // both relative: no error
			if !slices.ContainsFunc(replaced, func(rep []string) bool {
				return len(rep) == 3 && rep[0] == req[0] && path.Clean(rep[2]) == filepath.ToSlash(want)
			}) {
				complaints = append(complaints, fmt.Sprintf("%s needs %s and does not replace it by %s", name, req[0], want))
			}
		}
	}
	return complaints
}

var replacePlants = []planted{{"missing, wrong and right", tree{
	"a/go.mod":   "module linger/a\nrequire linger v0.0.0\n",
	"b/go.mod":   "module linger/b\nrequire linger v0.0.0\nreplace linger => ../..\n",
	"c/d/go.mod": "module linger/c/d\nrequire (\nlinger v0.0.0\nlinger/a v0.0.0\n)\nreplace linger => ../..\nreplace linger/a => ../../a\n",
}, []string{"a/go.mod needs linger and does not replace it by ..", "b/go.mod needs linger and does not replace it by .."}}}
