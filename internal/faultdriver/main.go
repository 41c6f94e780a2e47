package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

// op is one operation of a script.
type op struct {
	Op        string            `json:"op"`
	P         string            `json:"p"`
	Config    map[string]string `json:"config"`
	N         *int              `json:"n"`
	Topic     string            `json:"topic"`
	Partition *int32            `json:"partition"`
	Key       *string           `json:"key"`
	Size      int               `json:"size"`
	GapMs     int64             `json:"gap_ms"`
	Ms        *int64            `json:"ms"`
	TimeoutMs *int64            `json:"timeout_ms"`
	Cmd       string            `json:"cmd"`
	Async     bool              `json:"async"`
	AsyncMs   *int64            `json:"async_ms"`
}

func main() {
	bootstrap := flag.String("bootstrap", "", "brokers, host:port separated by commas")
	control := flag.String("control", "", "address that takes control commands")
	flag.Parse()
	if err := run(*bootstrap, *control); err != nil {
		fmt.Fprintln(os.Stderr, "faultdriver:", err)
		os.Exit(1)
	}
	os.Exit(0) // producers that the script leaves open end here, as in Java
}

func run(bootstrap, control string) error {
	var script struct {
		Ops []op `json:"ops"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&script); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	d := &driver{bootstrap: bootstrap, control: control, out: json.NewEncoder(os.Stdout), producers: map[string]*producer{}}
	var background sync.WaitGroup
	for i := range script.Ops {
		o := &script.Ops[i]
		switch {
		case o.Op == "join":
			waitAtMost(&background, ms(o.Ms, 20000))
		case o.Async:
			background.Go(func() { d.execute(i, o) })
			time.Sleep(ms(o.AsyncMs, 100))
		default:
			d.execute(i, o)
		}
	}
	d.emit(map[string]any{"type": "end"})
	return nil
}

func waitAtMost(wg *sync.WaitGroup, d time.Duration) {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }() // left behind when time runs out: the process ends soon
	select {
	case <-done:
	case <-time.After(d):
	}
}

func ms(v *int64, otherwise int64) time.Duration {
	if v == nil {
		return time.Duration(otherwise) * time.Millisecond
	}
	return time.Duration(*v) * time.Millisecond
}
