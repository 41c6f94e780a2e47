package bufferpool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/test/oracle"
)

type errorVector []struct{ Class, Message string }

type stepVector struct {
	Step                      string
	Capacity, Position, Limit *int
	Chunks                    []int
	Available, Unallocated    int64
	Free, Waiters             int
	Error                     errorVector
	Got                       *int
	FinishedNow               []string
}

type poolVector struct {
	ID, Kind, Mode string
	TotalMemory    int64
	PoolableSize   int
	Steps          []stepVector
	Held           []int
	Waiters        []struct {
		Name       string
		Size       int
		MaxBlockMs int64
	}
	Final []struct {
		Name, State string
		Error       errorVector
	}
}

func TestOracleBufferPool(t *testing.T) { // POOL-04, POOL-17, POOL-20, POOL-22, POOL-23
	var set struct{ Cases []poolVector }
	oracle.Load(t, "bufferpool.json", &set)
	oracle.Run(t, set.Cases, func(v poolVector) string { return v.ID }, nil, func(t *testing.T, v poolVector) {
		synctest.Test(t, func(t *testing.T) {
			switch v.Kind {
			case "trace":
				sameTrace(t, v)
			case "fair":
				sameFair(t, v)
			default:
				t.Fatalf("unknown kind %q", v.Kind)
			}
		})
	})
}

// lent is what a step of the script holds under a name.
type lent struct {
	buf    []byte
	chunks [][]byte
	size   int
}

// A script does a trace's steps one after the other on one goroutine.
type script struct {
	t    *testing.T
	pool *Pool
	held map[string]lent
}

func sameTrace(t *testing.T, v poolVector) {
	mode := Full
	if v.Mode == Incremental.String() {
		mode = Incremental
	} else if v.Mode != Full.String() {
		t.Fatalf("unknown mode %q", v.Mode)
	}
	s := script{t, New(v.TotalMemory, v.PoolableSize, mode, clock.Real()), make(map[string]lent)}
	for i, step := range v.Steps {
		got, err := s.do(strings.Split(step.Step, ":"))
		where := fmt.Sprintf("step %d, %s", i, step.Step)
		sameError(t, where, err, step.Error)
		if err == nil && step.Capacity != nil && (cap(got.buf) != *step.Capacity || len(got.buf) != *step.Limit) {
			t.Errorf("%s: buffer of %d, capacity %d, Java %d", where, len(got.buf), cap(got.buf), *step.Capacity)
		}
		if err == nil && step.Chunks != nil && !slices.Equal(lengths(got.chunks), step.Chunks) {
			t.Errorf("%s: chunks %v, Java %v", where, lengths(got.chunks), step.Chunks)
		}
		sameAccounts(t, where, s.pool, step)
	}
}

func lengths(chunks [][]byte) (n []int) {
	for _, c := range chunks {
		n = append(n, len(c))
	}
	return n
}

func (s *script) do(words []string) (lent, error) {
	s.t.Helper()
	switch op := words[0]; op {
	case "a", "ac":
		size, maxBlock := s.number(words[2]), clock.Ms(int64(s.number(words[3])))
		l := lent{size: size}
		var err error
		if op == "a" {
			l.buf, err = s.pool.Allocate(context.Background(), size, maxBlock)
		} else {
			l.chunks, err = s.pool.AllocateChunks(context.Background(), nil, size, maxBlock)
		}
		if err == nil {
			s.held[words[1]] = l
		}
		return l, err
	case "d", "ds":
		l := s.held[words[1]] // a name that was never handed out releases null
		delete(s.held, words[1])
		if op == "ds" {
			l.size = s.number(words[2])
		}
		s.pool.Release(l.buf, l.size)
	case "dc":
		s.pool.ReleaseChunks(s.held[words[1]].chunks)
		delete(s.held, words[1])
	case "w": // a slice has no position: the buffer is written and cut instead
		l := s.held[words[1]]
		n := s.number(words[2])
		copy(l.buf[:n], "written")
		l.buf = l.buf[:n]
		s.held[words[1]] = l
	case "close":
		s.pool.Close()
	default:
		s.t.Fatalf("unknown step %q", op)
	}
	return lent{}, nil
}

func (s *script) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func sameError(t *testing.T, where string, err error, want errorVector) {
	t.Helper()
	if (err != nil) != (len(want) > 0) {
		t.Fatalf("%s: error %v, Java's %v", where, err, want)
	}
	if err == nil {
		return
	}
	class := want[0].Class[strings.LastIndexByte(want[0].Class, '.')+1:]
	if kerr.JavaName(err) != class || kerr.JavaMessage(err) != want[0].Message {
		t.Errorf("%s: error\n%s: %s\nJava's\n%s: %s", where, kerr.JavaName(err), kerr.JavaMessage(err), class, want[0].Message)
	}
}

func sameAccounts(t *testing.T, where string, p *Pool, want stepVector) {
	t.Helper()
	got := fmt.Sprintf("available %d, unallocated %d, free %d, waiters %d", p.Available(), p.Unallocated(), p.Free(), p.Waiters())
	java := fmt.Sprintf("available %d, unallocated %d, free %d, waiters %d", want.Available, want.Unallocated, want.Free, want.Waiters)
	if got != java {
		t.Fatalf("%s:\n%s, Java\n%s", where, got, java)
	}
}

// A queueUp has callers that wait, each on a goroutine of its own; between steps all of them sleep or have finished.
type queueUp struct {
	pool  *Pool
	held  []lent
	got   map[string]lent
	done  chan outcome
	final map[string]error
}

type outcome struct {
	name string
	l    lent
	err  error
}

func sameFair(t *testing.T, v poolVector) {
	q := queueUp{
		pool: New(v.TotalMemory, v.PoolableSize, Full, clock.Real()),
		got:  make(map[string]lent), done: make(chan outcome, len(v.Waiters)), final: make(map[string]error),
	}
	for _, size := range v.Held {
		b, err := q.pool.Allocate(context.Background(), size, 0)
		if err != nil {
			t.Fatal(err)
		}
		q.held = append(q.held, lent{buf: b, size: size})
	}
	for _, w := range v.Waiters {
		go func() {
			b, err := q.pool.Allocate(context.Background(), w.Size, clock.Ms(w.MaxBlockMs))
			q.done <- outcome{w.Name, lent{buf: b, size: w.Size}, err}
		}()
		synctest.Wait() // so that they stand in line in this order
	}
	for i, step := range v.Steps {
		where := fmt.Sprintf("step %d, %s", i, step.Step)
		got, err := q.do(t, step.Step)
		sameError(t, where, err, step.Error)
		if step.Got != nil && (err != nil || len(got.buf) != *step.Got) {
			t.Errorf("%s: got %d bytes, %v, Java %d", where, len(got.buf), err, *step.Got)
		}
		synctest.Wait()
		if finished := q.finished(); !slices.Equal(finished, step.FinishedNow) {
			t.Errorf("%s: finished %q, Java %q", where, finished, step.FinishedNow)
		}
		sameAccounts(t, where, q.pool, step)
	}
	for _, f := range v.Final {
		err, ended := q.final[f.Name]
		if state := map[bool]string{true: "got", false: "failed"}[err == nil]; !ended || state != f.State {
			t.Errorf("%s ended: %t, %v; in Java it %s", f.Name, ended, err, f.State)
		}
		sameError(t, f.Name, err, f.Error)
	}
}

func (q *queueUp) do(t *testing.T, step string) (lent, error) {
	t.Helper()
	words := strings.Split(step, ":")
	s := script{t: t}
	switch words[0] {
	case "waiting":
	case "release":
		l := q.held[s.number(words[1])]
		q.pool.Release(l.buf, l.size)
	case "return":
		l := q.got[words[1]]
		q.pool.Release(l.buf, l.size)
	case "sleep":
		time.Sleep(clock.Ms(int64(s.number(words[1])))) // the bubble's time
	case "try":
		b, err := q.pool.Allocate(context.Background(), s.number(words[1]), clock.Ms(int64(s.number(words[2]))))
		return lent{buf: b}, err
	case "close":
		q.pool.Close()
	default:
		t.Fatalf("unknown step %q", step)
	}
	return lent{}, nil
}

// finished lists who ended since the last call, as the vectors put it.
func (q *queueUp) finished() []string {
	list := []string{}
	for len(q.done) > 0 {
		o := <-q.done
		q.final[o.name] = o.err
		if o.err != nil {
			list = append(list, o.name+" failed "+kerr.JavaName(o.err))
			continue
		}
		q.got[o.name] = o.l
		list = append(list, fmt.Sprintf("%s got %d", o.name, len(o.l.buf)))
	}
	slices.Sort(list)
	return list
}
