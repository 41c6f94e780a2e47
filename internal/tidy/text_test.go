package tidy

import (
	"fmt"
	"regexp"
	"strings"
)

// Words that must not stand in any file can't stand in this one either: they are put together here.

// elsewhere are beginnings of paths that only one machine has, or that lie outside the repository.
var elsewhere = []string{"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/", "../sha" + "red", "/tmp" + "/brief"}

// hosts are the servers behind package clients. The clients know where theirs are; a file that names one ties the tree to
// a network.
var hosts = []string{
	"proxy.go" + "lang.org", "sum.go" + "lang.org", "goproxy" + ".io", "goproxy" + ".cn",
	"repo.maven." + "apache.org", "repo1." + "maven.org", "central." + "sonatype.com",
	"deb." + "debian.org", "archive." + "ubuntu.com", "registry." + "npmjs.org", "py" + "pi.org", "files." + "pythonhosted.org",
	"static." + "crates.io", "index." + "crates.io",
}

func pathLaw(r tree) []string { return r.mentions(elsewhere) }
func hostLaw(r tree) []string { return r.mentions(hosts) }

// mentions finds words in any file, whatever its kind.
func (r tree) mentions(words []string) (complaints []string) {
	for _, name := range r.names() {
		for i, line := range strings.Split(r[name], "\n") {
			for _, w := range words {
				if strings.Contains(line, w) {
					complaints = append(complaints, fmt.Sprintf("%s:%d mentions %s", name, i+1, w))
				}
			}
		}
	}
	return complaints
}

var pathPlants = []planted{{"a folder of one machine", tree{"docs/A.md": "see\n/wo" + "rk/main for it\n", "b.go": "package b // network/x\n"},
	[]string{"docs/A.md:2 mentions " + elsewhere[0]}}}

var hostPlants = []planted{{"in a script", tree{"x.sh": "GOPROXY=https://" + hosts[0] + " go get\n"}, []string{"x.sh:1 mentions " + hosts[0]}}}

// rowID is a row of the requirements or a case, such as ACC-26 or B01. What only looks like one is in notRow.
var (
	rowID  = regexp.MustCompile(`\b(?:[0-9A-Z]{2,7}-[0-9]{2,3}|B[0-9]{2})\b`)
	notRow = regexp.MustCompile(`^(?:KIP|CRC|SHA|UTF|ISO|RFC)-`)
)

const rowsPerLine = 5

// rowLaw: a comment that lists many rows shows none of them.
func rowLaw(r tree) (complaints []string) {
	for _, name := range r.names(isGo, isTest) {
		for i, line := range strings.Split(r[name], "\n") {
			_, comment, ok := strings.Cut(line, "//")
			if !ok {
				continue
			}
			n := 0
			for _, id := range rowID.FindAllString(comment, -1) {
				if !notRow.MatchString(id) {
					n++
				}
			}
			if n > rowsPerLine {
				complaints = append(complaints, fmt.Sprintf("%s:%d names %d rows on a line, more than %d", name, i+1, n, rowsPerLine))
			}
		}
	}
	return complaints
}

var rowPlants = []planted{{"six of them", tree{"a_test.go": "package a\n" +
	"/" + "/ SEND-01, SEND-02, ACC-03, ACC-04, B01 and KIP-98.\n" +
	"/" + "/ SEND-01, SEND-02, ACC-03, ACC-04, B01, B02.\n"},
	[]string{"a_test.go:3 names 6 rows on a line, more than 5"}}}
