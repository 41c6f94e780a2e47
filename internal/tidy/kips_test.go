package tidy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const kipPage = "docs/KIPS.md"

var (
	kipName = regexp.MustCompile(`KIP-[0-9]+`)
	kipRow  = regexp.MustCompile(`(?m)^\| (KIP-[0-9]+) \|.*\|([^|]*)\|$`)
	quoted  = regexp.MustCompile("`([^`]+)`")
)

// kipLaw: the page that leads from a KIP to the code tells the truth. It speaks of the root module.
func kipLaw(r tree) (complaints []string) {
	page, ok := r[kipPage]
	if !ok {
		return []string{kipPage + " is missing"}
	}
	listed := map[string]bool{}
	for _, row := range kipRow.FindAllStringSubmatch(page, -1) {
		listed[row[1]] = true
		files := quoted.FindAllStringSubmatch(row[2], -1)
		if len(files) == 0 {
			complaints = append(complaints, fmt.Sprintf("%s leads from %s to no file", kipPage, row[1]))
		}
		for _, f := range files {
			if !slices.Contains(kipName.FindAllString(r[f[1]], -1), row[1]) {
				complaints = append(complaints, fmt.Sprintf("%s leads from %s to %s, which does not name it", kipPage, row[1], f[1]))
			}
		}
	}
	for _, name := range r.names(inHouse) {
		for _, kip := range kipName.FindAllString(r[name], -1) {
			if !listed[kip] {
				listed[kip] = true
				complaints = append(complaints, fmt.Sprintf("%s names %s, which has no row in %s", name, kip, kipPage))
			}
		}
	}
	return complaints
}

var kipPlants = []planted{
	{"no page", tree{"a.go": "package linger\n"}, []string{"docs/KIPS.md is missing"}},
	{
		"a row that leads astray and a KIP without one",
		tree{
			"a.go":  "package linger // KIP-7, KIP-8\n",
			kipPage: strings.Join([]string{"| KIP-7 | what | `a.go` |", "| KIP-70 | what | `a.go` |", "| KIP-71 | what | |"}, "\n"),
		},
		[]string{
			"docs/KIPS.md leads from KIP-70 to a.go, which does not name it",
			"docs/KIPS.md leads from KIP-71 to no file",
			"a.go names KIP-8, which has no row in docs/KIPS.md",
		},
	},
}
