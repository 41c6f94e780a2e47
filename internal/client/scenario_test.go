package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/metadata"
	"linger/internal/wire"
)

// TestScenarios plays testdata/*.txt: events in, effects out. Run with -rewrite to write down what comes out now, and
// read the difference.
//
// The grammar, which all step machines share: "start" makes a machine, with options as key=value. "at <instant>" is one
// turn; its lines happen in order, then time is looked at, and everything that came out is printed, orders first. Lines
// are the words of internal/link (resolved, up, written, received, closed) or calls of this machine.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &scenario{}
			datadriven.RunTest(t, path, s.directive)
		})
	}
}

type scenario struct {
	*world
	sent map[int32]*Request
	said []string // what the lines of a turn themselves print
}

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
	s.world = newWorld(t, func(o *Options) {
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "max-in-flight":
				o.MaxInFlight = int(number(t, a.Vals[0]))
			case "request-timeout":
				o.RequestTimeout = duration(t, a.Vals[0])
			case "max-idle":
				o.MaxIdle = duration(t, a.Vals[0])
			case "sasl":
				o.SASL = a.Vals[0]
			case "unsecured":
				o.Unsecured = a.Vals[0]
			default:
				d.Fatalf(t, "unknown option %s", a.Key)
			}
		}
	})
	s.sent = map[int32]*Request{}
}

func (s *scenario) turn(t *testing.T, d *datadriven.TestData) string {
	s.now = 0
	s.after(duration(t, d.CmdArgs[0].Key))
	s.said, s.losses, s.logs = nil, nil, nil
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			s.act(t, f[0], f[1:], line)
		}
	}
	s.m.Tick(s.now)
	s.collect()
	return s.effects()
}

// act carries out one line.
func (s *scenario) act(t *testing.T, verb string, args []string, line string) {
	text := func(from int) error { return cause(strings.Join(args[from:], " ")) }
	id := func(i int) int64 { return number(t, args[i]) }
	switch verb {
	case "resolved": // host addr…  |  host error text
		e := link.Event{Kind: link.Resolved, Host: args[0], Addrs: args[1:]}
		if len(args) > 1 && args[1] == "error" {
			e.Addrs, e.Err = nil, text(2)
		}
		s.m.Handle(s.now, e)
	case "up":
		s.m.Handle(s.now, link.Event{Kind: link.Up, Link: link.ID(id(0))})
	case "written": // link corr…
		for i := range args[1:] {
			s.m.Handle(s.now, link.Event{Kind: link.Written, Link: link.ID(id(0)), Corr: int32(id(i + 1))})
		}
	case "received": // link corr [byte…]
		s.m.Handle(s.now, frame(link.ID(id(0)), int32(id(1)), bytesOf(t, args[2:])))
	case "hello": // link corr version [error], written and answered
		resp, version := helloAnswer(), int16(id(2))
		if len(args) > 3 {
			resp, version = helloKeys(18, 0, version), 0
			resp.ErrorCode = int16(id(3))
		}
		s.m.Handle(s.now, link.Event{Kind: link.Written, Link: link.ID(id(0)), Corr: int32(id(1))})
		s.m.Handle(s.now, frame(link.ID(id(0)), int32(id(1)), helloBody(version, resp)))
	case "closed": // link [why]
		s.m.Handle(s.now, closed(link.ID(id(0)), text(1)))
	case "ending": // link [why]
		s.m.Handle(s.now, link.Event{Kind: link.Ending, Link: link.ID(id(0)), Err: text(1)})
	case "nodes": // id=host:port…
		var nodes []metadata.Node
		for _, a := range args {
			left, addr, _ := strings.Cut(a, "=")
			host, port, _ := strings.Cut(addr, ":")
			nodes = append(nodes, metadata.Node{ID: int32(number(t, left)), Host: host, Port: int32(number(t, port))})
		}
		s.m.SetNodes(s.now, nodes)
	case "connect":
		s.m.Connect(s.now, int32(id(0)))
	case "send": // node [noanswer]
		s.request(int32(id(0)), len(args) > 1)
	case "throttle": // node ms
		s.m.Throttle(s.now, int32(id(0)), int32(id(1)))
	case "disconnect": // node why
		s.m.Disconnect(s.now, int32(id(0)), text(1))
	case "close-all":
		s.m.CloseAll(s.now)
	case "show":
		s.show()
	default:
		if !s.saslLine(t, verb, args) {
			t.Fatalf("unknown line %q", line)
		}
	}
}

func (s *scenario) request(node int32, noAnswer bool) {
	corr := s.m.NextCorr()
	req := kmsg.NewPtrProduceRequest()
	req.Version = 11
	r := &Request{Key: 0, Version: 11, Corr: corr, Node: node, NoAnswer: noAnswer, Vec: [][]byte{wire.AppendRequest(nil, req, corr, "producer-1")}}
	s.sent[corr] = r
	s.m.Send(s.now, r)
}

func (s *scenario) show() {
	for _, n := range s.m.nodes {
		line := fmt.Sprintf("node %d: %v, %d in flight", n.ID, n.state, n.inFlight())
		if s.m.ready(s.now, n) {
			line += ", takes requests"
		}
		if s.m.canConnect(s.now, n) {
			line += ", may connect"
		}
		s.said = append(s.said, line)
	}
	if n, ok := s.m.LeastLoaded(s.now); ok {
		s.said = append(s.said, fmt.Sprintf("least loaded: %d", n))
	}
}

func (s *scenario) effects() string {
	var b strings.Builder
	for _, line := range s.said {
		fmt.Fprintln(&b, line)
	}
	for _, o := range s.orders {
		fmt.Fprintln(&b, readable(o))
	}
	for _, a := range s.answers {
		fmt.Fprintf(&b, "answer %d %v%s\n", a.Request.Corr, a.Kind, tail(a.Err))
	}
	for _, l := range s.losses {
		fmt.Fprintf(&b, "lost %d%s\n", l.Node, tail(l.Err))
	}
	for _, l := range s.logs {
		if l.Level > Debug {
			fmt.Fprintf(&b, "%v: %s\n", l.Level, l.Text)
		}
	}
	if wake := s.m.NextWake(); wake < 1<<62 {
		fmt.Fprintf(&b, "wake %v\n", time.Duration(wake))
	}
	return b.String()
}

// readable names the message instead of counting bytes.
func readable(o link.Order) string {
	if o.Kind != link.Write {
		return o.String()
	}
	key, version := binary.BigEndian.Uint16(o.Vec[0][4:]), binary.BigEndian.Uint16(o.Vec[0][6:])
	return fmt.Sprintf("write %d corr=%d %s v%d", o.Link, o.Corr, kmsg.NameForKey(int16(key)), version)
}

func tail(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// cause makes an error of words; "eof" and "auth" are what the transport would wrap.
func cause(words string) error {
	switch words {
	case "":
		return nil
	case "eof":
		return fmt.Errorf("connection closed by the peer: %w", io.EOF)
	case "auth":
		return fmt.Errorf("%w: unknown authority", kerr.ErrAuthentication)
	}
	return errors.New(words)
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func duration(t *testing.T, s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func bytesOf(t *testing.T, args []string) (b []byte) {
	for _, a := range args {
		b = append(b, byte(number(t, a)))
	}
	return b
}
