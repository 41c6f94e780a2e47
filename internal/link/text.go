package link

import (
	"fmt"
	"strings"
)

// String is one line for logs, scenarios and the trace of a simulated world. Bytes are only counted.
func (e Event) String() string {
	var s string
	switch e.Kind {
	case Resolved:
		s = strings.TrimRight(fmt.Sprintf("resolved %s %s", e.Host, strings.Join(e.Addrs, " ")), " ")
	case Written:
		s = fmt.Sprintf("written %d corr=%d", e.Link, e.Corr)
	case Received:
		s = fmt.Sprintf("received %d %d bytes", e.Link, len(e.Frame))
	case Proof:
		s = fmt.Sprintf("proof %d %s", e.Link, token(e.Token))
		if e.Complete {
			s += " complete"
		}
	default:
		s = fmt.Sprintf("%v %d", e.Kind, e.Link)
	}
	return s + cause(e.Err)
}

// String is one line, as Event's.
func (o Order) String() string {
	var s string
	switch o.Kind {
	case Resolve:
		s = "resolve " + o.Host
	case Dial:
		s = fmt.Sprintf("dial %d node=%d host=%s addr=%s", o.Link, o.Node, o.Host, o.Addr)
	case Write:
		n := 0
		for _, b := range o.Vec {
			n += len(b)
		}
		s = fmt.Sprintf("write %d corr=%d %d bytes", o.Link, o.Corr, n)
	case Challenge:
		s = fmt.Sprintf("challenge %d %s", o.Link, token(o.Token))
	default:
		s = fmt.Sprintf("%v %d", o.Kind, o.Link)
	}
	return s + cause(o.Err)
}

// token never shows what a login is made of.
func token(t []byte) string {
	if t == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d bytes", len(t))
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
