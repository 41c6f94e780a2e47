package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// calls lists the uses of package-level names of an imported package in a file: "time" → time.Now and so on. A local
// variable that has the package's name would be taken for it; such a name deserves the complaint.
func (r tree) calls(name string, of func(importPath, selected string) bool) (found []string) {
	fset, f := r.parse(name)
	local := map[string]string{} // name in the file → import path
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		as := path.Base(p)
		if as == "v2" {
			as = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			as = spec.Name.Name
		}
		local[as] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && local[x.Name] != "" && of(local[x.Name], sel.Sel.Name) {
				found = append(found, fmt.Sprintf("%s: %s.%s", where(fset, n), x.Name, sel.Sel.Name))
			}
		}
		return true
	})
	return found
}

// wallClock are the names of package time that read or wait by the wall clock.
var wallClock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func clockLaw(r tree) (complaints []string) {
	for _, name := range r.names(inHouse) {
		if path.Dir(name) != "internal/clock" {
			complaints = append(complaints, r.calls(name, func(p, sel string) bool { return p == "time" && slices.Contains(wallClock, sel) })...)
		}
	}
	return complaints
}

var clockPlants = []planted{
	{"in the sender", tree{
		"internal/sender/a.go": "package sender\nimport \"time\"\nvar d = time.Second\nfunc f() { _ = time.Now() }\n",
		"internal/clock/a.go":  "package clock\nimport \"time\"\nfunc f() { _ = time.Now() }\n",
		"internal/sim/a.go":    "package sim\nimport \"time\"\nfunc f() { _ = time.Now() }\n",
	}, []string{"internal/sender/a.go:4: time.Now"}},
	{"under another name, as a value", tree{"a.go": "package linger\nimport t \"time\"\nvar wait = t.Sleep\n"}, []string{"a.go:3: t.Sleep"}},
}

// seeded are the names of math/rand that make or describe a source of one's own; every other function uses the global one.
var seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

// The producer's own source is seeded in new.go, from the global one.
func randLaw(r tree) (complaints []string) {
	for _, name := range r.names(inHouse) {
		if name == "new.go" {
			continue
		}
		complaints = append(complaints, r.calls(name, func(p, sel string) bool {
			return (p == "math/rand" || p == "math/rand/v2") && !slices.Contains(seeded, sel)
		})...)
	}
	return complaints
}

var randPlants = []planted{{"a global draw beside a seeded one", tree{
	"new.go":               "package linger\nimport \"math/rand/v2\"\nvar n = rand.Uint64()\n",
	"internal/client/a.go": "package client\nimport \"math/rand/v2\"\nvar r = rand.New(rand.NewPCG(1, 2))\nvar n = rand.IntN(3)\n",
}, []string{"internal/client/a.go:4: rand.IntN"}}}

func initLaw(r tree) (complaints []string) {
	for _, name := range r.names(isGo) {
		fset, f := r.parse(name)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				complaints = append(complaints, where(fset, d)+": an init function")
			}
		}
	}
	return complaints
}

var initPlants = []planted{{"a function, not a method", tree{
	"x/a.go": "package x\ntype t int\nfunc (t) init() {}\nfunc init() {}\n",
}, []string{"x/a.go:4: an init function"}}}

// packageState are the package-level variables that change, each with its reason elsewhere.
var packageState = []string{
	"internal/config.lastClient", // numbers the default client.id, as Java does
}

// stateLaw finds package-level variables whose type is one for shared, changing things, and those that some function of
// their file assigns to. It reads files one by one, so it can be fooled; it is there for the honest mistake.
func stateLaw(r tree) (complaints []string) {
	for _, name := range r.names(inHouse) {
		fset, f := r.parse(name)
		vars := map[string]ast.Node{}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				for _, id := range spec.Names {
					vars[id.Name] = id
					if shared(spec) && !slices.Contains(packageState, path.Dir(name)+"."+id.Name) {
						complaints = append(complaints, fmt.Sprintf("%s: %s is package state", where(fset, id), id.Name))
					}
				}
			}
		}
		complaints = append(complaints, assigned(fset, f, vars)...)
	}
	return complaints
}

// shared reports whether a variable's type or value is one of sync's or sync/atomic's types.
func shared(spec *ast.ValueSpec) bool {
	found := false
	look := func(n ast.Node) bool {
		if _, isFunc := n.(*ast.FuncLit); isFunc {
			return false
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			found = found || ok && (x.Name == "sync" || x.Name == "atomic")
		}
		return true
	}
	if spec.Type != nil {
		ast.Inspect(spec.Type, look)
	}
	for _, v := range spec.Values {
		ast.Inspect(v, look)
	}
	return found
}

// assigned finds assignments to, and increments of, package-level variables. A local variable hides one of the same name.
func assigned(fset *token.FileSet, f *ast.File, vars map[string]ast.Node) (complaints []string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		local := map[string]bool{}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				for _, id := range n.Names {
					local[id.Name] = true
				}
			case *ast.ValueSpec:
				for _, id := range n.Names {
					local[id.Name] = true
				}
			case *ast.RangeStmt:
				declare(local, n.Tok, n.Key, n.Value)
			case *ast.AssignStmt:
				declare(local, n.Tok, n.Lhs...)
			}
			return true
		})
		check := func(target ast.Expr) {
			if ix, ok := target.(*ast.IndexExpr); ok {
				target = ix.X
			}
			if id, ok := target.(*ast.Ident); ok && vars[id.Name] != nil && !local[id.Name] {
				complaints = append(complaints, fmt.Sprintf("%s: %s changes the package variable %s", where(fset, id), fn.Name.Name, id.Name))
			}
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					check(l)
				}
			case *ast.IncDecStmt:
				check(n.X)
			}
			return true
		})
	}
	return complaints
}

func declare(local map[string]bool, tok token.Token, targets ...ast.Expr) {
	if tok != token.DEFINE {
		return
	}
	for _, t := range targets {
		if id, ok := t.(*ast.Ident); ok {
			local[id.Name] = true
		}
	}
}

var statePlants = []planted{
	{"a pool, and a lock inside a struct", tree{"internal/wire/a.go": `package wire
import "sync"
var pool sync.Pool
var box struct{ mu sync.Mutex }
var table = [2]int{1, 2}
var f = func() { var mu sync.Mutex; _ = &mu }
`}, []string{"internal/wire/a.go:3: pool is package state", "internal/wire/a.go:4: box is package state"}},
	{"a counter and a map that grow", tree{"a.go": `package linger
var n int
var seen = map[int]bool{}
var hidden int
func f() { n++; seen[1] = true; hidden := 1; hidden = 2; _ = hidden }
`}, []string{"a.go:5: f changes the package variable n", "a.go:5: f changes the package variable seen"}},
}

// sleepLaw forbids tests to wait for time to pass, in every module. In a synctest bubble time passes by itself.
func sleepLaw(r tree) (complaints []string) {
	for _, name := range r.names(isGo, isTest) {
		if !slices.Contains(r.imports(name), "testing/synctest") {
			complaints = append(complaints, r.calls(name, func(p, sel string) bool { return p == "time" && sel == "Sleep" })...)
		}
	}
	return complaints
}

var sleepPlants = []planted{{"outside a bubble", tree{
	"x/a_test.go": "package x\nimport \"time\"\nfunc f() { time.Sleep(1) }\n",
	"x/b_test.go": "package x\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _ = synctest.Test\nfunc g() { time.Sleep(1) }\n",
}, []string{"x/a_test.go:3: time.Sleep"}}}

// docLaw wants a doc.go with a package comment in every package that has code.
func docLaw(r tree) (complaints []string) {
	var done []string
	for _, name := range r.names(isCode) {
		dir := path.Dir(name)
		if slices.Contains(done, dir) {
			continue
		}
		done = append(done, dir)
		doc := path.Join(dir, "doc.go")
		if _, ok := r[doc]; !ok {
			complaints = append(complaints, doc+" is missing")
			continue
		}
		if _, f := r.parse(doc); f.Doc == nil || len(strings.Fields(f.Doc.Text())) < 10 {
			complaints = append(complaints, doc+" does not say what the package is for")
		}
	}
	return complaints
}

var docPlants = []planted{{"none, and an empty one", tree{
	"x/a.go":      "package x\n",
	"y/doc.go":    "// Package y.\npackage y\n",
	"z/doc.go":    "// Package z is for this and that, owns these and refuses to do those things.\npackage z\n",
	"t/a_test.go": "package t\n",
}, []string{"x/doc.go is missing", "y/doc.go does not say what the package is for"}}}

// oracleLaw: who runs only the oracle's tests must reach all vectors.
func oracleLaw(r tree) (complaints []string) {
	for _, name := range r.names(isGo, isTest) {
		if path.Dir(name) == "test/oracle" { // the loader's own tests
			continue
		}
		fset, f := r.parse(name)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "TestOracle") {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Load" {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "oracle" {
						complaints = append(complaints, where(fset, n)+": "+fn.Name.Name+" loads vectors")
					}
				}
				return true
			})
		}
	}
	return complaints
}

var oraclePlants = []planted{{"a test with another name", tree{
	"x/a_test.go": "package x\nfunc TestOracleA(t T) { oracle.Load(t) }\nfunc TestB(t T) { oracle.Load(t) }\n",
}, []string{"x/a_test.go:3: TestB loads vectors"}}}
