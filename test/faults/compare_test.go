package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// compared lists the facts that are held against each other: the outcome, then the wire.
var compared = []string{"records", "twice", "order", "ops", "state", "log", "bounds", "produce", "txn", "versions"}

// difference is one fact that is not what it should be.
type difference struct {
	fact      string
	want, got any
}

// differences compares with what is recorded. A fact that is not recorded can't differ.
func differences(want, got map[string]any) (ds []difference) {
	for _, fact := range compared {
		w, recorded := want[fact]
		if !recorded || reflect.DeepEqual(w, got[fact]) {
			continue
		}
		if fact == "twice" && within(got[fact], w) {
			continue // Java tells some outcomes twice. Once is right.
		}
		ds = append(ds, difference{fact, w, got[fact]})
	}
	return ds
}

// within reports whether all that the list got holds is in the list want.
func within(got, want any) bool {
	g, _ := got.([]any)
	w, _ := want.([]any)
	return !slices.ContainsFunc(g, func(x any) bool { return !slices.Contains(w, x) })
}

// report shows differences line by line: "-" is Java's, "+" ours.
func report(ds []difference) string {
	var b strings.Builder
	for _, d := range ds {
		show(&b, d.fact, d.want, d.got)
	}
	return b.String()
}

func show(b *strings.Builder, name string, want, got any) {
	w, isMap := want.(map[string]any)
	g, alsoMap := got.(map[string]any)
	if isMap && alsoMap {
		both := maps.Clone(w)
		maps.Copy(both, g)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			if !reflect.DeepEqual(w[k], g[k]) {
				show(b, name+"["+k+"]", w[k], g[k])
			}
		}
		return
	}
	ours, isList := got.([]any)
	theirs, alsoList := want.([]any)
	if !isList || !alsoList {
		fmt.Fprintf(b, "%s: want %s, got %s\n", name, text(want), text(got))
		return
	}
	fmt.Fprintf(b, "%s:\n", name)
	for i := range max(len(ours), len(theirs)) {
		switch {
		case i < len(ours) && i < len(theirs) && reflect.DeepEqual(ours[i], theirs[i]):
			fmt.Fprintf(b, "    %s\n", text(ours[i]))
			continue
		case i < len(theirs):
			fmt.Fprintf(b, "  - %s\n", text(theirs[i]))
		}
		if i < len(ours) {
			fmt.Fprintf(b, "  + %s\n", text(ours[i]))
		}
	}
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	j, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(j)
}

func factsThatDiffer(ds []difference) (names []string) {
	for _, d := range ds {
		names = append(names, d.fact)
	}
	return names
}
