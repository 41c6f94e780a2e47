//go:build unix

package kafkatest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"linger/test/broker/kafkatest"
)

func TestThreeNodesOutliveTheKilledLeaderAndItCatchesUp(t *testing.T) {
	c := kafkatest.StartT(t, kafkatest.Options{Nodes: 3})
	topic := c.NewTopic(t, 1, map[string]string{"min.insync.replicas": "2"})
	want := produce(t, c, awkward(topic, 1))

	leader := c.Leader(t, topic, 0)
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	want = append(want, produce(t, c, awkward(topic, 1))...)
	if err := leader.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "franz-go", want, kafkatest.ReadAll(t, c, topic))

	now := c.Leader(t, topic, 0)
	if now == leader {
		t.Fatalf("node %d still leads after it was killed", now.ID())
	}
	waitInSync(t, c, topic, 3)
	if diff := cmp.Diff(now.Dump(t, topic, 0), leader.Dump(t, topic, 0)); diff != "" {
		t.Errorf("the copies differ (-leader +follower):\n%s", diff)
	}
	if err := now.Stop(); err != nil {
		t.Errorf("an orderly stop: %v", err)
	}
}

// waitInSync waits until the topic's first partition has n replicas in sync.
func waitInSync(t *testing.T, c *kafkatest.Cluster, topic string, n int) {
	t.Helper()
	admin := kadm.NewClient(c.Client(t))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		topics, err := admin.ListTopics(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		if isr := topics[topic].Partitions[0].ISR; len(isr) == n {
			return
		}
	}
}

func TestAPausedNodeAnswersAgainWhenResumed(t *testing.T) {
	c := brokers.Get(t, kafkatest.Options{}) // shared: it is given back as it was
	n := c.Node(1)
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Resume(); err != nil {
			t.Error(err)
		}
	})
	cl := c.Client(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := cl.Ping(ctx); err == nil {
		t.Error("a paused node answered")
	}
	if err := n.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := cl.Ping(t.Context()); err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestTheTransactionVersionAskedForIsTheOneInForce(t *testing.T) {
	for version, o := range []kafkatest.Options{{}, older, rich} {
		want := []int16{2, 1, 2}[version] // 0 is the release's default
		t.Run(fmt.Sprintf("transaction.version=%d", version), func(t *testing.T) {
			c := brokers.Get(t, o)
			resp := apiVersions(t, c)
			for _, f := range resp.FinalizedFeatures {
				if f.Name == "transaction.version" && f.MaxVersionLevel == want {
					return
				}
			}
			t.Errorf("finalized features %+v, want transaction.version %d", resp.FinalizedFeatures, want)
		})
	}
}

func TestTwoPhaseCommitOpensInitProducerIDVersion6(t *testing.T) {
	for name, want := range map[string]int16{"disabled": 5, "enabled": 6} {
		t.Run(name, func(t *testing.T) {
			c := brokers.Get(t, map[string]kafkatest.Options{"disabled": {}, "enabled": rich}[name])
			for _, k := range apiVersions(t, c).ApiKeys {
				if k.ApiKey == int16(kmsg.InitProducerID) && k.MaxVersion != want {
					t.Errorf("InitProducerId up to version %d, want %d", k.MaxVersion, want)
				}
			}
		})
	}
}

func apiVersions(t *testing.T, c *kafkatest.Cluster) *kmsg.ApiVersionsResponse {
	t.Helper()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kafkatest", "1"
	resp, err := req.RequestWith(t.Context(), c.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestAFurtherListenerHasItsOwnSecurity(t *testing.T) {
	c := brokers.Get(t, rich)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for password, welcome := range map[string]bool{"secret": true, "wrong": false} {
		cl := c.Client(t, kgo.SeedBrokers(c.AddrsOf("LOGIN")...), kgo.SASL(plain.Auth{User: "alice", Pass: password}.AsMechanism()))
		if err := cl.Ping(ctx); (err == nil) != welcome {
			t.Errorf("password %q: %v, want welcome %v", password, err, welcome)
		}
	}
}

func TestExtraPropertiesReachTheBroker(t *testing.T) {
	c := brokers.Get(t, rich)
	configs, err := kadm.NewClient(c.Client(t)).DescribeBrokerConfigs(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range configs[0].Configs {
		if cfg.Key == "message.max.bytes" && cfg.MaybeValue() == unusualLimit {
			return
		}
	}
	t.Error("message.max.bytes is not the one asked for")
}

func TestABrokerThatCannotStartSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves real brokers out")
	}
	c, err := kafkatest.Start(t.Context(), kafkatest.Options{Props: map[string]string{"num.io.threads": "none"}})
	t.Cleanup(func() { os.RemoveAll(c.Dir()) }) // a temporary folder
	if err == nil || !strings.Contains(err.Error(), "num.io.threads") {
		t.Errorf("got %v, want an error that names num.io.threads", err)
	}
}
