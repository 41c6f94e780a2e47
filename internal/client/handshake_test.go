package client

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
	"linger/internal/link"
)

// hello reads the ApiVersions request of the last turn.
func (w *world) hello() (o link.Order, req *kmsg.ApiVersionsRequest) {
	w.t.Helper()
	o = w.sole(link.Write)
	b := o.Vec[0]
	if int(binary.BigEndian.Uint32(b)) != len(b)-4 || binary.BigEndian.Uint16(b[4:]) != 18 {
		w.t.Fatalf("not an ApiVersions request: % x", b)
	}
	req = kmsg.NewPtrApiVersionsRequest()
	req.Version = int16(binary.BigEndian.Uint16(b[6:]))
	idLen := int(binary.BigEndian.Uint16(b[12:]))
	if got := string(b[14 : 14+idLen]); got != "producer-1" {
		w.t.Errorf("client.id %q", got)
	}
	body := b[14+idLen:]
	if req.Version >= 3 {
		body = body[1:]
	}
	if err := req.ReadFrom(body); err != nil {
		w.t.Fatal(err)
	}
	return o, req
}

// greet answers the hello of the last turn.
func (w *world) greet(o link.Order, body []byte) {
	w.turn(link.Event{Kind: link.Written, Link: o.Link, Corr: o.Corr}, frame(o.Link, o.Corr, body))
}

func (w *world) up(node int32) link.ID {
	l := w.dial(node)
	w.turn(link.Event{Kind: link.Up, Link: l})
	return l
}

func refusal(r *kmsg.ApiVersionsResponse, code kerr.Code) []byte {
	r.ErrorCode = int16(code)
	return helloBody(0, r)
}

// NET-16: the handshake tells name and version (KIP-511) and leaves out what only a known broker may be asked (KIP-1242).
func TestTheHandshakeSaysWhoWeAre(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rebootstrap, o.ClusterCheck = true, true })
	w.m.SetNodes(0, BootstrapNodes([]HostPort{{"alpha", 9092}}))
	w.m.SetClusterID("c1")
	w.up(-1)
	_, req := w.hello()
	if req.Version != 5 || req.ClientSoftwareName != "linger" || req.ClientSoftwareVersion != "1.0" || req.ClusterID != nil || req.NodeID != -1 {
		t.Errorf("got %+v", req)
	}
	w = twoNodes(t, func(o *Options) { o.Rebootstrap, o.ClusterCheck = true, true })
	w.m.SetClusterID("c1")
	w.up(2)
	if _, req = w.hello(); req.ClusterID == nil || *req.ClusterID != "c1" || req.NodeID != 2 {
		t.Errorf("got %+v, want cluster and node to be checked", req)
	}
}

// NET-16: a broker that does not know our ApiVersions is asked again in the version it names, or in 0.
func TestAnOlderBrokerIsAskedInItsVersion(t *testing.T) {
	for name, c := range map[string]struct {
		body []byte
		want int16
	}{
		"names its newest":             {refusal(helloKeys(18, 0, 3), kerr.UnsupportedVersion), 3},
		"names nothing":                {refusal(kmsg.NewPtrApiVersionsResponse(), kerr.UnsupportedVersion), 0},
		"names other APIs only":        {refusal(helloKeys(0, 0, 9), kerr.UnsupportedVersion), 0},
		"names the version it refused": {refusal(helloKeys(18, 0, 5), kerr.UnsupportedVersion), 0},
		"names a version below all":    {refusal(helloKeys(18, -1, -1), kerr.UnsupportedVersion), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			w.up(1)
			o, _ := w.hello()
			w.greet(o, c.body)
			o, req := w.hello()
			if req.Version != c.want {
				t.Fatalf("asked in version %d, want %d", req.Version, c.want)
			}
			w.greet(o, helloBody(c.want, helloAnswer()))
			if w.m.State(1) != Ready {
				t.Errorf("node is %v, want ready", w.m.State(1))
			}
		})
	}
}

func helloKeys(key, least, most int16) *kmsg.ApiVersionsResponse {
	r := kmsg.NewPtrApiVersionsResponse()
	r.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: key, MinVersion: least, MaxVersion: most}}
	return r
}

func TestAHandshakeThatFailsClosesTheConnection(t *testing.T) {
	for name, body := range map[string][]byte{
		"with another error":      refusal(kmsg.NewPtrApiVersionsResponse(), kerr.ClusterAuthorizationFailed),
		"with an unreadable body": {0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"with an empty body":      {},
	} {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			w.up(1)
			o, _ := w.hello()
			w.greet(o, body)
			w.sole(link.Close)
			if w.m.State(1) != Down || w.m.LastError(1) == nil {
				t.Errorf("node is %v, last error %v", w.m.State(1), w.m.LastError(1))
			}
		})
	}
	t.Run("with no version left to try", func(t *testing.T) {
		w := twoNodes(t)
		w.up(1)
		o, _ := w.hello()
		w.greet(o, refusal(kmsg.NewPtrApiVersionsResponse(), kerr.UnsupportedVersion))
		o, _ = w.hello()
		w.greet(o, refusal(kmsg.NewPtrApiVersionsResponse(), kerr.UnsupportedVersion))
		w.sole(link.Close)
	})
}

// NET-16: the newest version that both sides allow, per broker.
func TestAnAPIVersionIsTheNewestBothAllow(t *testing.T) {
	w := twoNodes(t)
	w.up(1)
	o, _ := w.hello()
	r := helloAnswer()
	r.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: 3, MinVersion: 4, MaxVersion: 9}, {ApiKey: 0, MinVersion: 0, MaxVersion: 2}, {ApiKey: 22, MinVersion: 1, MaxVersion: 4}}
	w.greet(o, helloBody(5, r))
	w.connect(2)
	for _, c := range []struct {
		node           int32
		key, clientMax int16
		want           int16
		ok             bool
		why            string
	}{
		{1, 3, 13, 9, true, "the broker's newest"},
		{1, 3, 5, 5, true, "the client's newest"},
		{1, 3, 3, 0, false, "the broker's oldest is too new"},
		{1, 0, 13, 0, false, "only Produce versions that 4.x has dropped"},
		{2, 0, 13, 13, true, "another broker, another table"},
		{2, 0, 11, 11, true, "capped for a transaction of version 1"},
		{1, 24, 5, 0, false, "an API the broker doesn't have"},
		{7, 3, 5, 0, false, "a node that isn't there"},
	} {
		if got, ok := w.m.Version(c.node, c.key, c.clientMax); got != c.want || ok != c.ok {
			t.Errorf("%s: got %d %v, want %d %v", c.why, got, ok, c.want, c.ok)
		}
	}
}

// NET-16: a request in a version the broker lacks is answered at once and never sent.
func TestARequestInAVersionTheBrokerLacksIsNotSent(t *testing.T) {
	w := twoNodes(t)
	w.connect(1)
	r := w.send(1, func(r *Request) { r.Version = 14 })
	w.wantAnswers(r, VersionMismatch)
	if len(w.orders) != 0 || kerr.CodeOf(w.answers[0].Err) != kerr.UnsupportedVersion {
		t.Errorf("orders %v, error %v", w.orders, w.answers[0].Err)
	}
}

func TestVersionsAreForgottenWithTheConnection(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	w.turn(closed(l, nil))
	if _, ok := w.m.Version(1, 0, 13); ok {
		t.Error("a node that is down still has versions")
	}
}

func TestFinalizedFeaturesAreThoseOfTheNewestEpoch(t *testing.T) {
	w := twoNodes(t)
	if got := w.m.Finalized(); got.Epoch != -1 || got.Level("transaction.version") != 0 {
		t.Errorf("before any broker: %+v", got)
	}
	for _, c := range []struct {
		node        int32
		epoch       int64
		level, best int16
	}{{1, 7, 2, 2}, {2, 6, 1, 2}} {
		w.up(c.node)
		o, _ := w.hello()
		r := helloAnswer()
		r.FinalizedFeaturesEpoch = c.epoch
		r.FinalizedFeatures = []kmsg.ApiVersionsResponseFinalizedFeature{{Name: "transaction.version", MinVersionLevel: 0, MaxVersionLevel: c.level}}
		w.greet(o, helloBody(5, r))
		if got := w.m.Features(c.node); got.Level("transaction.version") != c.level || got.Epoch != c.epoch {
			t.Errorf("node %d: %+v", c.node, got)
		}
		if got := w.m.Finalized().Level("transaction.version"); got != c.best {
			t.Errorf("after node %d: level %d, want %d", c.node, got, c.best)
		}
	}
}

// NET-17: ApiVersions throttles too, from version 2 on.
func TestTheHandshakesThrottlingIsObeyed(t *testing.T) {
	for _, c := range []struct {
		version int16
		want    time.Duration
	}{{5, 250 * ms}, {1, 0}} {
		w := twoNodes(t)
		w.up(1)
		o, _ := w.hello()
		if c.version != 5 {
			w.greet(o, refusal(helloKeys(18, 0, c.version), kerr.UnsupportedVersion))
			o, _ = w.hello()
		}
		r := helloAnswer()
		r.ThrottleMillis = 250
		w.greet(o, helloBody(c.version, r))
		if w.m.State(1) != Ready || w.m.Ready(w.now, 1) != (c.want == 0) || !w.m.Ready(w.now.Add(c.want), 1) {
			t.Errorf("version %d: state %v, not throttled for %v", c.version, w.m.State(1), c.want)
		}
	}
}

func TestABrokerMayAskToStartOver(t *testing.T) {
	for _, obey := range []bool{true, false} {
		w := twoNodes(t, func(o *Options) { o.Rebootstrap, o.ClusterCheck = obey, true })
		w.m.SetClusterID("c1")
		other := w.connect(2)
		w.up(1)
		o, _ := w.hello()
		w.greet(o, helloBody(5, &kmsg.ApiVersionsResponse{ErrorCode: int16(kerr.RebootstrapRequired)}))
		var closes []link.ID
		for _, o := range w.orders {
			closes = append(closes, o.Link)
		}
		want := []link.ID{o.Link, other}
		if !obey {
			want = want[:1]
		}
		if diff := cmp.Diff(want, closes); diff != "" {
			t.Errorf("obey %v: closed links (-want +got):\n%s", obey, diff)
		}
		if got := w.m.RebootstrapRequired(); got != obey || w.m.RebootstrapRequired() {
			t.Errorf("obey %v: start over %v, want it told once", obey, got)
		}
		if obey && !strings.Contains(strings.Join(w.lines(Info), "\n"), "Rebootstrap requested by server") {
			t.Errorf("log %q", w.lines(Info))
		}
	}
}
