package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"linger/bench/nullbroker"
	"linger/cmd/linger/perf"
)

// run is one run's result.
type run struct {
	Workload string          `json:"workload"`
	Title    string          `json:"title"`
	Paced    bool            `json:"paced"`
	Client   string          `json:"client"`
	Round    int             `json:"round"`
	Result   perf.Result     `json:"result"`
	Broker   nullbroker.Seen `json:"broker"`
	// OtherLoad is everything else that ran, as a share of all processors; negative where that is not known.
	OtherLoad float64 `json:"other_load"`
}

type runner struct {
	plan
	self string
	log  io.Writer
}

const (
	brokerCore, clientCore = 0, 1
	warmupShare            = 6 // a sixth of a run's records
	longest                = 20
	runTimeout             = 5 * time.Minute
)

func (r *runner) all(ctx context.Context) (runs []run, err error) {
	for _, w := range r.workloads {
		sizes := make([]int, len(r.clients))
		for i, c := range r.clients {
			n, serr := r.size(ctx, w, c)
			sizes[i], err = n, errors.Join(err, serr)
		}
		for round := range r.rounds {
			for i, c := range r.clients {
				if sizes[i] == 0 {
					continue
				}
				got, rerr := r.once(ctx, w, c, sizes[i])
				if rerr != nil {
					err = errors.Join(err, rerr)
					continue
				}
				got.Round = round
				runs = append(runs, got)
				fmt.Fprintf(r.log, "%s round %d %-8s %7.1f ns/record  %9.0f records/s  p99 %.2f ms  other load %.0f %%\n",
					w.name, round, c.name, got.Result.CPUNs, got.Result.RecordsPerS, got.Result.LatencyMs.P99, 100*got.OtherLoad)
			}
		}
	}
	return runs, err
}

// size finds how many records take about r.seconds; 0 with an error.
func (r *runner) size(ctx context.Context, w workload, c contestant) (int, error) {
	if w.Paced() {
		return max(1, int(w.Rate*r.seconds)), nil
	}
	probe, err := r.once(ctx, w, c, max(1000, w.Records/5))
	if err != nil {
		return 0, err
	}
	return min(max(int(probe.Result.RecordsPerS*r.seconds), w.Records/4), w.Records*longest), nil
}

// once gives a client a broker and returns what both saw.
func (r *runner) once(ctx context.Context, w workload, c contestant, records int) (got run, err error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	got = run{Workload: w.name, Title: w.title, Paced: w.Paced(), Client: c.name}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", w.name, c.name, err)
		}
	}()
	load := startLoad()
	stop, err := r.open(ctx, &w)
	if err != nil {
		return got, err
	}
	w.Records, w.Warmup = records, max(1, w.Records/warmupShare)
	out, err := r.runClient(ctx, c, &w.Workload)
	seen, berr := stop()
	got.Broker, got.OtherLoad = seen, load.others()
	if err = errors.Join(err, berr); err != nil {
		return got, err
	}
	if err := json.Unmarshal(lastLine(out), &got.Result); err != nil {
		return got, fmt.Errorf("no result: %w", err)
	}
	switch sent := int64(records + w.Warmup); {
	case got.Result.Error != "":
		return got, errors.New(got.Result.Error)
	case got.Result.Failed > 0:
		return got, fmt.Errorf("%d records failed", got.Result.Failed)
	case seen.Records != sent:
		return got, fmt.Errorf("the broker has %d records of %d", seen.Records, sent)
	}
	return got, nil
}

// open makes what w is to be sent to, and writes into w where that is: a null broker, or a topic of a running cluster. stop
// ends it and tells what has arrived; of a cluster, only how many records.
func (r *runner) open(ctx context.Context, w *workload) (stop func() (nullbroker.Seen, error), err error) {
	if r.servers != "" {
		t, err := makeTopic(ctx, r.servers, *w)
		if err != nil {
			return nil, err
		}
		w.Bootstrap, w.Topic = r.servers, t.name
		return t.stop, nil
	}
	b, err := r.startBroker(ctx, *w)
	if err != nil {
		return nil, err
	}
	w.Bootstrap = b.addr
	return b.stop, nil
}

func (r *runner) runClient(ctx context.Context, c contestant, w *perf.Workload) ([]byte, error) {
	args, err := c.arguments(r.self, w)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := r.start(cmd, clientCore); err != nil {
		return nil, err
	}
	err = cmd.Wait()
	return out.Bytes(), err
}

// start pins the process to core when the mode wants that.
func (r *runner) start(cmd *exec.Cmd, core int) error {
	if !r.pinned {
		return cmd.Start()
	}
	return startOn(core, cmd)
}

// broker is a broker's process.
type broker struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	addr string
}

func (r *runner) startBroker(ctx context.Context, w workload) (*broker, error) {
	cmd := exec.CommandContext(ctx, r.self, asBroker, fmt.Sprintf("-partitions=%d", w.partitions), fmt.Sprintf("-brokers=%d", w.brokers))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.start(cmd, brokerCore); err != nil {
		return nil, err
	}
	b := &broker{cmd: cmd, out: bufio.NewReader(pipe)}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(errors.New("the broker did not start"), cmd.Wait())
	}
	b.addr = line[:len(line)-1]
	return b, nil
}

func (b *broker) stop() (seen nullbroker.Seen, err error) {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return seen, errors.Join(err, b.cmd.Wait())
	}
	err = json.NewDecoder(b.out).Decode(&seen)
	return seen, errors.Join(err, b.cmd.Wait())
}

func lastLine(out []byte) []byte {
	out = bytes.TrimSpace(out)
	return out[bytes.LastIndexByte(out, '\n')+1:]
}
