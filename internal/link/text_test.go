package link

import (
	"errors"
	"testing"
)

func TestEventsAndOrdersReadAsOneLine(t *testing.T) {
	broken := errors.New("broken")
	for want, got := range map[string]string{
		"resolved alpha 10.0.0.1 10.0.0.2":            Event{Kind: Resolved, Host: "alpha", Addrs: []string{"10.0.0.1", "10.0.0.2"}}.String(),
		"resolved alpha: broken":                      Event{Kind: Resolved, Host: "alpha", Err: broken}.String(),
		"up 7":                                        Event{Kind: Up, Link: 7}.String(),
		"written 7 corr=3":                            Event{Kind: Written, Link: 7, Corr: 3}.String(),
		"received 7 2 bytes":                          Event{Kind: Received, Link: 7, Frame: []byte{1, 2}}.String(),
		"proof 7 2 bytes complete":                    Event{Kind: Proof, Link: 7, Token: []byte{1, 2}, Complete: true}.String(),
		"proof 7 nothing: broken":                     Event{Kind: Proof, Link: 7, Err: broken}.String(),
		"challenge 7 nothing":                         Order{Kind: Challenge, Link: 7}.String(),
		"challenge 7 0 bytes":                         Order{Kind: Challenge, Link: 7, Token: []byte{}}.String(),
		"closed 7: broken":                            Event{Kind: Closed, Link: 7, Err: broken}.String(),
		"EventKind(9) 7":                              Event{Kind: 9, Link: 7}.String(),
		"resolve alpha":                               Order{Kind: Resolve, Host: "alpha"}.String(),
		"dial 7 node=1 host=alpha addr=10.0.0.1:9092": Order{Kind: Dial, Link: 7, Node: 1, Host: "alpha", Addr: "10.0.0.1:9092"}.String(),
		"write 7 corr=3 5 bytes":                      Order{Kind: Write, Link: 7, Corr: 3, Vec: [][]byte{{1, 2}, {3, 4, 5}}}.String(),
		"close 7: broken":                             Order{Kind: Close, Link: 7, Err: broken}.String(),
		"OrderKind(9) 7":                              Order{Kind: 9, Link: 7}.String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
