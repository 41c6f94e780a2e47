package transport

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"linger/internal/link"
)

// gatedConn lets writes through one at a time and remembers their sizes.
type gatedConn struct {
	net.Conn
	gate chan struct{}

	mu     sync.Mutex
	writes []int
}

func (c *gatedConn) Write(b []byte) (int, error) {
	<-c.gate
	c.mu.Lock()
	c.writes = append(c.writes, len(b))
	c.mu.Unlock()
	return len(b), nil
}

func TestQueuedRequestsShareACallWhileTheyAreSmall(t *testing.T) {
	tests := []struct {
		name  string
		sizes []int // of the requests queued while the first is being written
		// calls lists which requests come out Written after each call that the connection lets through.
		calls [][]int32
	}{
		{
			name:  "small ones go out together",
			sizes: []int{100, 100, 100},
			calls: [][]int32{{0}, {1, 2, 3}},
		},
		{
			name:  "a large one does not hold up the small one before it",
			sizes: []int{100, coalesceLimit, 100},
			calls: [][]int32{{0}, {1}, {2}, {3}},
		},
		{
			name:  "the sum decides",
			sizes: []int{coalesceLimit / 2, coalesceLimit / 2, 1},
			calls: [][]int32{{0}, {1, 2}, {3}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newInbox()
				tr := New(Options{Post: in.post})
				ours, theirs := net.Pipe()
				defer theirs.Close()
				conn := &gatedConn{Conn: ours, gate: make(chan struct{})}
				tr.dial = fixedDialer(conn)
				do(tr, dialOrder(1, ""), writeOrder(1, 0, []byte("first")))
				in.want(t, link.Up)
				synctest.Wait()
				for i, size := range tt.sizes {
					do(tr, writeOrder(1, int32(i+1), make([]byte, size)))
				}
				synctest.Wait()
				for call, want := range tt.calls {
					in.wantNone(t)
					// The scratch of a connection without writev holds small requests only: one gathered call is then one write
					// or, for the sum that fills the scratch, a few.
					var got []int32
					for len(got) < len(want) {
						conn.gate <- struct{}{}
						synctest.Wait()
						for len(in) > 0 {
							got = append(got, in.want(t, link.Written).Corr)
						}
						if len(got) > 0 && !slices.Equal(got, want) {
							t.Fatalf("call %d: got Written%v, want Written%v", call+1, got, want)
						}
					}
				}
				close(conn.gate)
				tr.Wait()
			})
		})
	}
}

// The vector of an order is the giver's: writing must not change it, and after Written the writer holds none of it.
func TestWriterLeavesTheVectorAsItIsAndForgetsIt(t *testing.T) {
	for _, vectored := range []bool{true, false} {
		vec := [][]byte{[]byte("a"), []byte("bc"), nil, []byte("def")}
		kept := slices.Clone(vec)
		var got bytes.Buffer
		w := &writer{conn: collectorConn{w: &got}}
		if !vectored {
			w = newWriter(collectorConn{w: &got})
		}
		if !w.take(request{corr: 1, vec: vec}) {
			t.Fatal("the first request was not taken")
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		w.reset()
		if got.String() != "abcdef" {
			t.Errorf("vectored %t: wrote %q, want %q", vectored, got.String(), "abcdef")
		}
		if diff := cmp.Diff(kept, vec); diff != "" {
			t.Errorf("vectored %t: the vector changed (-want +got):\n%s", vectored, diff)
		}
		for i, p := range w.pieces[:cap(w.pieces)] {
			if p != nil {
				t.Errorf("vectored %t: piece %d is still held", vectored, i)
			}
		}
	}
}

type collectorConn struct {
	net.Conn
	w *bytes.Buffer
}

func (c collectorConn) Write(b []byte) (int, error) { return c.w.Write(b) }
