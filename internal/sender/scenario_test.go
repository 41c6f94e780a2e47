package sender

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/metadata"
)

// TestScenarios plays testdata/*.txt: events in, effects out. Run with -rewrite to write down what comes out now, and
// read the difference.
//
// The grammar is that of all step machines. "start" makes a producer that knows topic t and has the producer id 7/0, with
// options as key=value. "at <instant>" is one turn, or as many as come by themselves at that instant; its lines happen
// first, in order:
//
//	append P SIZE [N]         N records to partition P
//	written CORR…             the link has written the request
//	answer CORR [P=WORD…]     written and answered; a partition is a success at offset 0 unless P is an offset, an error
//	                          name, or NAME>LEADER.EPOCH with a hint (KIP-951)
//	reply CORR [P=WORD…]      answer of a request that was written before
//	id CORR ID EPOCH          answer to InitProducerId
//	metadata CORR             answer to Metadata, with the leaders of the moment
//	leader P NODE EPOCH       from now on partition P is led by NODE
//	cut NODE WHY              the connection ends
//	flush, close, force       what the application does
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &scenario{}
			datadriven.RunTest(t, path, s.directive)
			if got, want := s.w.pool.Available(), s.w.pool.Total(); s.w.done && got != want {
				t.Errorf("the producer has ended with %d of %d bytes of memory at home", got, want)
			}
		})
	}
}

type scenario struct{ w *world }

func (s *scenario) directive(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "start":
		s.start(t, d)
		return ""
	case "at":
		return s.turn(t, d)
	}
	d.Fatalf(t, "unknown directive %s", d.Cmd)
	return ""
}

func (s *scenario) start(t *testing.T, d *datadriven.TestData) {
	set := plainSetting()
	for _, a := range d.CmdArgs {
		v := a.Vals[0]
		switch a.Key {
		case "brokers":
			set.brokers = atoi(t, v)
		case "partitions":
			set.partitions = atoi(t, v)
		case "linger":
			set.linger = duration(t, v)
		case "delivery":
			set.delivery = duration(t, v)
		case "request":
			set.request = duration(t, v)
		case "batch":
			set.batchSize = atoi(t, v)
		case "retries":
			set.retries = atoi(t, v)
		case "in-flight":
			set.inFlight = atoi(t, v)
		case "idempotent":
			set.idempotent = v == "true"
		case "acks":
			set.acks = int16(atoi(t, v))
		case "id":
			set.lateID = v == "late"
		case "produce":
			set.produceMax = int16(atoi(t, v))
		default:
			d.Fatalf(t, "unknown option %s", a.Key)
		}
	}
	s.w = newWorld(t, set)
	s.w.connect()
}

// maxTurns bounds the turns that follow by themselves at one instant: more is a machine that spins.
const maxTurns = 50

func (s *scenario) turn(t *testing.T, d *datadriven.TestData) string {
	w := s.w
	w.now = clock.Instant(duration(t, d.CmdArgs[0].Key))
	w.clk.Advance(w.now.Sub(w.clk.Now()))
	w.out = nil
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			s.act(t, f[0], f[1:])
		}
	}
	for n := 0; ; n++ {
		w.turn()
		if len(w.events) == 0 {
			break
		}
		if n == maxTurns {
			t.Fatalf("%s: %d turns and no end", d.Pos, n)
		}
	}
	switch {
	case w.done:
		w.sayf("end")
	case w.wake == clock.Never:
		w.sayf("wake never")
	default:
		w.sayf("wake %v", time.Duration(w.wake))
	}
	return strings.Join(w.out, "\n") + "\n"
}

func (s *scenario) act(t *testing.T, verb string, args []string) {
	w := s.w
	num := func(i int) int { return atoi(t, args[i]) }
	switch verb {
	case "append":
		n := 1
		if len(args) > 2 {
			n = num(2)
		}
		w.append(int32(num(0)), num(1), n)
	case "written":
		for i := range args {
			w.written(int32(num(i)))
		}
	case "answer":
		corr := int32(num(0))
		w.answer(corr, w.produceAnswer(corr, outcomes(t, args[1:])))
	case "reply":
		corr := int32(num(0))
		w.respond(corr, w.requests[corr], w.produceAnswer(corr, outcomes(t, args[1:])))
	case "id":
		w.answerID(int32(num(0)), int64(num(1)), int16(num(2)))
	case "metadata":
		w.answerMetadata(int32(num(0)))
	case "leader":
		w.leader[num(0)] = metadata.Partition{Leader: int32(num(1)), LeaderEpoch: int32(num(2))}
	case "cut":
		w.cut(w.linkTo(int32(num(0))), errors.New(strings.Join(args[1:], " ")))
	case "flush":
		w.acc.Flush()
	case "close":
		w.acc.Close()
		w.post(Event{Kind: CloseBegin})
	case "force":
		w.acc.Close()
		w.post(Event{Kind: CloseForce})
	default:
		t.Fatalf("unknown line %s %v", verb, args)
	}
}

func outcomes(t *testing.T, args []string) map[int32]outcomeOf {
	m := map[int32]outcomeOf{}
	for _, a := range args {
		p, word, _ := strings.Cut(a, "=")
		o := outcomeOf{leader: -1}
		if offset, err := strconv.ParseInt(word, 10, 64); err == nil {
			o.offset = offset
		} else {
			name, hint, hinted := strings.Cut(word, ">")
			o.code = codeNamed(t, name)
			if hinted {
				if _, err := fmt.Sscanf(hint, "%d.%d", &o.leader, &o.leaderEpoch); err != nil {
					t.Fatalf("hint %q: %v", hint, err)
				}
			}
		}
		m[int32(atoi(t, p))] = o
	}
	return m
}

func codeNamed(t *testing.T, name string) kerr.Code {
	t.Helper()
	for c := kerr.Code(-1); c < 200; c++ {
		if c.Known() && c.Name() == name {
			return c
		}
	}
	t.Fatalf("no error is called %s", name)
	return 0
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
