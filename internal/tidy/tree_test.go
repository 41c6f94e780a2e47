package tidy

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is the repository: slash-separated path → content, text files only.
type tree map[string]string

// law complains about a tree, one line each; a good tree gets none.
type law func(tree) []string

// planted is a small tree and the complaints its law must make about it.
type planted struct {
	name string
	tree tree
	want []string
}

// laws are all of them, with their plants.
var laws = []struct {
	name   string
	law    law
	plants []planted
}{
	{"a package imports lower floors only", floorLaw, floorPlants},
	{"an import has its owners", ownerLaw, ownerPlants},
	{"only the clock reads the wall clock", clockLaw, clockPlants},
	{"random numbers come from a seeded source", randLaw, randPlants},
	{"there is no init function", initLaw, initPlants},
	{"there is no package state", stateLaw, statePlants},
	{"tests wait for something, not for a while", sleepLaw, sleepPlants},
	{"every package has a doc.go that says what it is for", docLaw, docPlants},
	{"a test that loads oracle vectors is named TestOracle", oracleLaw, oraclePlants},
	{"every module is in the workspace and tested", moduleLaw, modulePlants},
	{"a module finds its siblings beside it", replaceLaw, replacePlants},
	{"no file names a machine's paths", pathLaw, pathPlants},
	{"no file names a package registry's host", hostLaw, hostPlants},
	{"a comment line names at most five rows", rowLaw, rowPlants},
	{"every package's tests look for goroutines that are left", leakLaw, leakPlants},
	{"docs/KIPS.md leads from each KIP to its code", kipLaw, kipPlants},
	{"docs/ARCHITECTURE.md lists each room on its floor", pageLaw, pagePlants},
}

func TestTheTreeKeepsItsLaws(t *testing.T) {
	repo := load(t, "../..")
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			for _, complaint := range l.law(repo) {
				t.Error(complaint)
			}
		})
	}
}

// A law must be able to fail, and must not complain about the lawful tree beside each violation.
func TestEachLawFindsWhatIsPlanted(t *testing.T) {
	for _, l := range laws {
		if len(l.plants) == 0 {
			t.Errorf("%s: nothing is planted against it", l.name)
		}
		for _, p := range l.plants {
			t.Run(l.name+"/"+p.name, func(t *testing.T) {
				if diff := cmp.Diff(p.want, l.law(p.tree)); diff != "" {
					t.Errorf("complaints (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// File sizes are a report, not a law.
func TestFileSizesAreReported(t *testing.T) {
	var sizes []int
	for name, text := range load(t, "../..") {
		if !strings.HasSuffix(name, ".go") || generated(text) {
			continue
		}
		n := strings.Count(text, "\n")
		sizes = append(sizes, n)
		if n > 500 {
			t.Logf("%s has %d lines: look for the second idea inside", name, n)
		}
	}
	slices.Sort(sizes)
	t.Logf("%d Go files by hand, median %d lines, longest %d", len(sizes), sizes[len(sizes)/2], sizes[len(sizes)-1])
}

// load reads the text files under root. What git ignores (bin, .cache) and git's own folder are no part of the tree.
func load(t *testing.T, root string) tree {
	t.Helper()
	repo, src := tree{}, os.DirFS(root)
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if slices.Contains([]string{".git", "bin", ".cache"}, name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // .git of a second work tree is a file
		}
		if d.IsDir() {
			return nil
		}
		content, err := fs.ReadFile(src, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody's scratch, gone since it was listed: other packages' tests run beside this one
		}
		if err == nil && !bytes.Contains(content, []byte{0}) {
			repo[name] = string(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := repo["go.work"]; !ok {
		t.Fatalf("%s is not the repository: no go.work", root)
	}
	return repo
}

// names are the paths of the tree that satisfy every condition, sorted, so that complaints come in a fixed order.
func (r tree) names(conditions ...func(name string) bool) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if !slices.ContainsFunc(conditions, func(ok func(string) bool) bool { return !ok(name) }) {
			found = append(found, name)
		}
	}
	return found
}

func isGo(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/")
}
func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }
func isCode(name string) bool { return isGo(name) && !isTest(name) }

// inHouse is the code of the root module that makes up the producer: the root package and the rooms, without what stands
// beside the house.
func inHouse(name string) bool {
	if !isCode(name) {
		return false
	}
	_, known := floors[path.Dir(name)]
	return known
}

func generated(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, "// Code generated ")
}

// parse reads a Go file; the compiler complains about one that can't be read, not we.
func (r tree) parse(name string) (*token.FileSet, *ast.File) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, r[name], parser.ParseComments)
	if err != nil || f == nil {
		return fset, &ast.File{Name: ast.NewIdent("_")}
	}
	return fset, f
}

// where is file:line of a node.
func where(fset *token.FileSet, n ast.Node) string {
	p := fset.Position(n.Pos())
	return p.Filename + ":" + itoa(p.Line)
}
