package sender

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// A producer that may not have an id fails what waits for one, and asks again after retry.backoff.ms: what is sent then
// finds the permission granted. Java asks again without pause.
func TestProducerIDIsAskedForAgainWithoutPermission(t *testing.T) {
	w := newWorld(t, plainSetting())
	w.post(Event{Kind: TopicWanted, Topic: "t"})
	var asked []clock.Instant
	appended := false
	for range 60 {
		w.turn()
		for _, corr := range w.open() {
			switch w.requests[corr].key {
			case int16(kmsg.Metadata):
				w.answerMetadata(corr)
			case int16(kmsg.InitProducerID):
				if !appended && w.acc.Topic("t").PartitionCount() == 0 {
					continue // the record is to be there when the answer comes
				}
				asked = append(asked, w.now)
				if !appended {
					appended = true
					w.append(0, 100, 2)
				}
				resp := kmsg.NewPtrInitProducerIDResponse()
				resp.ErrorCode = int16(kerr.ClusterAuthorizationFailed)
				if len(asked) == 3 {
					resp.ErrorCode, resp.ProducerID = 0, 7
				}
				w.answer(corr, resp)
			}
		}
		if len(w.events) == 0 && len(asked) < 3 {
			w.now = w.wake
			w.clk.Advance(w.now.Sub(w.clk.Now()))
		}
	}
	backoff := clock.Instant(100 * time.Millisecond)
	if len(asked) != 3 || asked[1] != asked[0]+backoff || asked[2] != asked[1]+backoff {
		t.Fatalf("asked at %v", asked)
	}
	if !slices.Contains(w.out, "failed ClusterAuthorizationException t-0 2 records offset -1") || w.s.identity.State != "ready" {
		t.Errorf("state %s after\n%v", w.s.identity.State, w.out)
	}
	w.append(0, 100, 1)
	w.turn()
	if corr := w.open(); len(corr) != 1 || describe(t, w.requests[corr[0]]) != "Produce v13 acks -1 t-0(7/0 seq 0 +1)" {
		t.Errorf("sent %v", w.out)
	}
}
