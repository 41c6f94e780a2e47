package kafka

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"linger/lingertest/kafka/readback"
)

// Options says what broker to start. The zero value is one broker without topics on a free loopback port.
type Options struct {
	// Brokers is the number of brokers of the cluster; 0 means 1.
	Brokers int

	// Topics are made before Start returns: name → number of partitions.
	Topics map[string]int32

	// AutoCreate lets a client's metadata request make topics, as auto.create.topics.enable does. They get
	// DefaultPartitions partitions; 0 means 1.
	AutoCreate        bool
	DefaultPartitions int32

	// Configs are broker settings such as message.max.bytes, transaction.max.timeout.ms or log.message.timestamp.type.
	Configs map[string]string

	// TransactionV1 makes the cluster speak what Kafka 3.7 spoke: transactions as before KIP-890.
	TransactionV1 bool

	// DataDir keeps the log in a folder, so that offsets go on after the next Start; "" keeps it in memory.
	DataDir string

	// InMemory replaces sockets by pipes in the process; only Dial reaches the broker then.
	InMemory bool
}

// firstPort is where in-memory brokers pretend to listen: they share no port space with anybody.
const firstPort = 9092

// Broker is a running embedded broker, or several that form a cluster. Its methods may be called from several goroutines.
type Broker struct {
	cluster *kfake.Cluster
	network *kfake.VirtualNetwork // nil with sockets
}

// Start starts a broker. End it with Close.
func Start(o Options) (*Broker, error) {
	n := cmp.Or(o.Brokers, 1)
	if n < 1 {
		return nil, fmt.Errorf("embedded broker: %d brokers", o.Brokers)
	}
	versions := kversion.V4_4_0()
	if o.TransactionV1 {
		versions = kversion.V3_7_0()
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(n), kfake.MaxVersions(versions), kfake.BrokerConfigs(o.Configs),
		kfake.DefaultNumPartitions(int(cmp.Or(o.DefaultPartitions, 1))),
	}
	if o.AutoCreate {
		opts = append(opts, kfake.AllowAutoTopicCreation())
	}
	if o.DataDir != "" {
		opts = append(opts, kfake.DataDir(o.DataDir))
	}
	b := &Broker{}
	if o.InMemory {
		b.network = &kfake.VirtualNetwork{}
		ports := make([]int, n)
		for i := range ports {
			ports[i] = firstPort + i
		}
		opts = append(opts, kfake.ListenFn(b.network.Listen), kfake.Ports(ports...))
	}
	for topic, partitions := range o.Topics {
		if partitions < 1 {
			return nil, fmt.Errorf("embedded broker: topic %q with %d partitions", topic, partitions)
		}
		opts = append(opts, kfake.SeedTopics(partitions, topic))
	}
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	b.cluster = cluster
	return b, nil
}

// Close ends the broker and its connections, and waits for them.
func (b *Broker) Close() { b.cluster.Close() }

// Addrs are the brokers' addresses, host:port.
func (b *Broker) Addrs() []string { return b.cluster.ListenAddrs() }

// Bootstrap is Addrs in the form of bootstrap.servers.
func (b *Broker) Bootstrap() string { return strings.Join(b.Addrs(), ",") }

// Dial connects to a broker by one of its addresses; with Options.InMemory it is the only way. It has the form of
// net.Dialer.DialContext.
func (b *Broker) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if b.network != nil {
		return b.network.DialContext(ctx, network, addr)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, addr)
}

// CreateTopic makes a topic. configs, such as cleanup.policy, may be nil.
func (b *Broker) CreateTopic(topic string, partitions int32, configs map[string]string) error {
	return b.cluster.CreateTopic(topic, partitions, configs)
}

// Leader is the id of the broker that leads the partition, -1 if there is no such partition. Ids begin at 0.
func (b *Broker) Leader(topic string, partition int32) int32 {
	return b.cluster.LeaderFor(topic, partition)
}

// MoveLeader makes another broker lead the partition, as an election would.
func (b *Broker) MoveLeader(topic string, partition, broker int32) error {
	return b.cluster.MoveTopicPartition(topic, partition, broker)
}

// Record is a record read back from the broker.
type Record = readback.Record

// Header is one header of a Record.
type Header = readback.Header

// ReadAll returns every record that is in the topic's log now, by partition and offset, read with franz-go: also those of
// aborted and of open transactions.
func (b *Broker) ReadAll(ctx context.Context, topic string) ([]Record, error) {
	return readback.All(ctx, topic, b.clientOpts()...)
}

// ReadCommitted is ReadAll for an application with isolation.level=read_committed.
func (b *Broker) ReadCommitted(ctx context.Context, topic string) ([]Record, error) {
	return readback.Committed(ctx, topic, b.clientOpts()...)
}

func (b *Broker) clientOpts() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(b.Addrs()...), kgo.Dialer(b.Dial)}
}
