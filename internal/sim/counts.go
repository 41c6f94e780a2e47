package sim

import (
	"fmt"
	"strings"
)

// Counts says how often something was reached.
type Counts struct {
	Faults [numFaults]int
	Paths  [numPaths]int
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	for f, n := range o.Faults {
		c.Faults[f] += n
	}
	for p, n := range o.Paths {
		c.Paths[p] += n
	}
}

// Never are the faults and paths that were not reached.
func (c *Counts) Never() (names []string) {
	for f := NoFault + 1; f < numFaults; f++ {
		if c.Faults[f] == 0 {
			names = append(names, "fault: "+f.String())
		}
	}
	for p := Path(0); p < numPaths; p++ {
		if c.Paths[p] == 0 {
			names = append(names, p.String())
		}
	}
	return names
}

// faults is how many faults of all kinds there were.
func (c *Counts) faults() (n int) {
	for f := NoFault + 1; f < numFaults; f++ {
		n += c.Faults[f]
	}
	return n
}

// String is a table, one line each.
func (c *Counts) String() string {
	var b strings.Builder
	for f := NoFault + 1; f < numFaults; f++ {
		fmt.Fprintf(&b, "%9d  fault: %v\n", c.Faults[f], f)
	}
	for p := Path(0); p < numPaths; p++ {
		fmt.Fprintf(&b, "%9d  %v\n", c.Paths[p], p)
	}
	return b.String()
}
