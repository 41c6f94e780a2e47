package tidy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const architecturePage = "docs/ARCHITECTURE.md"

// floorRow is a line of the page's table of floors, such as "| 4 | `accumulator` `sasl` |".
var floorRow = regexp.MustCompile("(?m)^\\| ([0-9]+) \\|((?: `[a-z0-9]+`)+) \\|$")

// pageLaw: the page's table of floors is the table that the build is held against.
func pageLaw(r tree) (complaints []string) {
	page, ok := r[architecturePage]
	if !ok {
		return []string{architecturePage + " is missing"}
	}
	told := map[string]int{}
	for _, row := range floorRow.FindAllStringSubmatch(page, -1) {
		floor, _ := strconv.Atoi(row[1]) // digits
		for _, room := range quoted.FindAllStringSubmatch(row[2], -1) {
			told["internal/"+room[1]] = floor
		}
	}
	for _, room := range slices.Sorted(maps.Keys(floors)) {
		floor, listed := told[room]
		delete(told, room)
		switch {
		case room == ".": // the top, in words
		case !listed:
			complaints = append(complaints, fmt.Sprintf("%s does not list %s (floor %d)", architecturePage, room, floors[room]))
		case floor != floors[room]:
			complaints = append(complaints, fmt.Sprintf("%s lists %s on floor %d, and it is on floor %d", architecturePage, room, floor, floors[room]))
		}
	}
	for _, room := range slices.Sorted(maps.Keys(told)) {
		complaints = append(complaints, fmt.Sprintf("%s lists %s, which is no room of the house", architecturePage, room))
	}
	return complaints
}

// pageOf is a page that tells the truth, but for what edit does to its table.
func pageOf(edit func(told map[string]int)) tree {
	told := maps.Clone(floors)
	delete(told, ".")
	edit(told)
	var b strings.Builder
	for _, room := range slices.Sorted(maps.Keys(told)) {
		fmt.Fprintf(&b, "| %d | `%s` |\n", told[room], strings.TrimPrefix(room, "internal/"))
	}
	return tree{architecturePage: b.String()}
}

var pagePlants = []planted{
	{"no page", tree{}, []string{"docs/ARCHITECTURE.md is missing"}},
	{"the truth", pageOf(func(map[string]int) {}), nil},
	{
		"a room forgotten, one moved and one invented",
		pageOf(func(told map[string]int) {
			delete(told, "internal/clock")
			told["internal/sender"] = 5
			told["internal/attic"] = 8
		}),
		[]string{
			"docs/ARCHITECTURE.md does not list internal/clock (floor 0)",
			"docs/ARCHITECTURE.md lists internal/sender on floor 5, and it is on floor 6",
			"docs/ARCHITECTURE.md lists internal/attic, which is no room of the house",
		},
	},
}
