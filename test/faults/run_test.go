package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"linger/test/faults/broker"
)

// scenarioLimit is how long a driver may take. The longest script takes eight seconds.
const scenarioLimit = 60 * time.Second

// buildDriver builds the driver into folder.
func buildDriver(folder string) (string, error) {
	path := filepath.Join(folder, "faultdriver")
	if out, err := exec.Command("go", "build", "-o", path, "linger/internal/faultdriver").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the driver: %w\n%s", err, out)
	}
	return path, nil
}

// journal takes lines from many goroutines.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) bytes() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Clone(j.text.Bytes())
}

// run plays the scenario once and returns its facts.
func (s *scenario) run(driver string) (map[string]any, error) {
	var seen journal
	b, err := broker.Start(s.script(), broker.Options{Log: &seen})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	said, err := s.drive(driver, b)
	if err != nil {
		return nil, err
	}
	if err := b.Command("dump"); err != nil {
		return nil, fmt.Errorf("what the log holds: %w", err)
	}
	b.Close()
	if folder := os.Getenv("LINGER_FAULTS_KEEP"); folder != "" {
		err := errors.Join(os.WriteFile(filepath.Join(folder, s.Name+".driver.jsonl"), said, 0o644),
			os.WriteFile(filepath.Join(folder, s.Name+".broker.jsonl"), seen.bytes(), 0o644))
		if err != nil {
			return nil, err
		}
	}
	lines := parseLines[brokerLine](seen.bytes())
	for _, l := range lines {
		if l.Type == "problem" {
			return nil, fmt.Errorf("the broker could not follow the script: %+v", l)
		}
	}
	return factsOf(s.compare, parseLines[driverLine](said), lines)
}

// drive runs the script and returns what the driver printed. It is there to its last line, or the run counts for nothing.
func (s *scenario) drive(driver string, b *broker.Server) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scenarioLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, driver, "--bootstrap", b.Bootstrap(), "--control", b.ControlAddr())
	cmd.Stdin = strings.NewReader(s.input())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	said, err := cmd.Output()
	if err == nil && !bytes.Contains(said, []byte(`"type":"end"`)) {
		err = errors.New("no last line")
	}
	if err != nil {
		text := complaints.String()
		return nil, fmt.Errorf("driver: %w\n%s", err, text[max(0, len(text)-2000):])
	}
	return said, nil
}
