package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"linger/test/faults/broker"
)

// scenario is a script for both sides, how to compare, and what Java did.
type scenario struct {
	*broker.Scenario
	compare comparison
	want    map[string]any // facts; nil when none are recorded
}

// comparison is the "compare" object of a scenario.
type comparison struct {
	Bounds       []bound  `json:"bounds"`
	Skip         []string `json:"skip"`          // facts left out
	LooseRetries bool     `json:"loose_retries"` // equal requests in a row count as one
	NoCauses     bool     `json:"no_causes"`     // exceptions without their causes
	Outcomes     bool     `json:"outcomes"`      // only how many records ended how
}

// bound limits the duration of an operation in milliseconds, or a partition's share of the records.
type bound struct {
	Op       *int        `json:"op"`
	MinMs    json.Number `json:"min_ms"`
	MaxMs    json.Number `json:"max_ms"`
	TP       string      `json:"tp"`
	MinShare json.Number `json:"min_share"`
	MaxShare json.Number `json:"max_share"`
}

// load reads a folder with scenarios.json and expected/.
func load(folder string) ([]*scenario, error) {
	scripts, err := broker.Load(filepath.Join(folder, "scenarios.json"))
	if err != nil {
		return nil, err
	}
	var all []*scenario
	for _, script := range scripts {
		s := &scenario{Scenario: script}
		if len(script.Compare) > 0 {
			if err := json.Unmarshal(script.Compare, &s.compare); err != nil {
				return nil, fmt.Errorf("%s: compare: %w", script.Name, err)
			}
		}
		if s.want, err = recorded(filepath.Join(folder, "expected", script.Name+".json")); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no scenarios", folder)
	}
	return all, nil
}

func recorded(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Facts     map[string]any `json:"facts"`
		NotStable []string       `json:"not_stable"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, k := range file.NotStable {
		delete(file.Facts, k) // Java itself does not repeat them
	}
	return file.Facts, nil
}

// script is the scenario for one run: rules count their uses.
func (s *scenario) script() *broker.Scenario {
	c := *s.Scenario
	c.Rules = nil
	for _, r := range s.Rules {
		fresh := *r
		c.Rules = append(c.Rules, &fresh)
	}
	return &c
}

// input is what the driver reads.
func (s *scenario) input() string {
	return fmt.Sprintf(`{"scenario":%q,"ops":%s}`, s.Name, strings.TrimSpace(string(s.Ops)))
}
