package linger_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"linger"
)

// A name that stands in key.serializer, partitioner.class or interceptor.classes of a properties file gets its meaning from a
// registry. New refuses names that have none.
func ExampleRegistry() {
	registry := linger.NewRegistry().With("com.example.VIPPartitioner", func() any { return vip{} })
	p, err := linger.New(linger.String, linger.String,
		linger.BootstrapServers("127.0.0.1:9092"), linger.WithLogger(nil),
		linger.WithRegistry(registry),
		linger.Set("partitioner.class", "com.example.VIPPartitioner"))
	if err == nil {
		fmt.Println("made")
		_ = p.Close()
	}
	_, err = linger.New(linger.String, linger.String,
		linger.BootstrapServers("127.0.0.1:9092"), linger.WithLogger(nil),
		linger.Set("partitioner.class", "com.example.VIPPartitioner"))
	fmt.Println(errors.Is(err, linger.ErrConfig))
	fmt.Println(err)
	// Output:
	// made
	// true
	// failed to construct producer: Invalid value com.example.VIPPartitioner for configuration partitioner.class: Class com.example.VIPPartitioner could not be found. Register the name with linger.WithRegistry, or hand New the value itself.
}

// Each record of a topic goes to the next partition, with or without a key; linger.WithPartitioner(linger.RoundRobin()) makes
// a producer do so.
func ExampleRoundRobin() {
	cluster := linger.ClusterOf(map[string]int32{"orders": 3})
	turns := linger.RoundRobin()
	seen := map[int32]int{}
	for range 9 {
		n, _ := turns.Partition("orders", []byte("the same key"), nil, cluster)
		seen[n]++
	}
	fmt.Println(seen)
	// Output: map[0:3 1:3 2:3]
}

// successRate counts outcomes and adds a header to each record.
type successRate struct{ sent, failed atomic.Int64 }

func (s *successRate) OnSend(r linger.Record[string, string]) (linger.Record[string, string], error) {
	s.sent.Add(1)
	r.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)], linger.Header{Key: "sent-by", Value: []byte("shop")})
	return r, nil
}

func (s *successRate) OnAck(_ linger.RecordMetadata, _ []linger.Header, err error) {
	if err != nil {
		s.failed.Add(1)
	}
}

// An interceptor hears of every record, also of one that Send turns away.
func ExampleInterceptor() {
	rate := new(successRate)
	p, err := linger.New(linger.String, linger.String,
		linger.BootstrapServers("127.0.0.1:9092"), linger.WithLogger(nil),
		linger.WithInterceptors[string, string](rate))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = p.Close()
	_, err = p.SendSync(context.Background(), linger.Record[string, string]{Topic: "orders", Value: "too late"})
	fmt.Println(err)
	fmt.Println("sent", rate.sent.Load(), "failed", rate.failed.Load())
	// Output:
	// Cannot perform operation after producer has been closed
	// sent 1 failed 1
}

// New names the option, the value and what is allowed.
func ExampleNew_configurationError() {
	_, err := linger.New(linger.String, linger.String, linger.BootstrapServers("localhost:9092"), linger.WithLogger(nil),
		linger.CompressionType("brotli"))
	fmt.Println(err)
	// Output: failed to construct producer: Invalid value brotli for configuration compression.type: String must be one of: none, gzip, snappy, lz4, zstd
}

// Producer.Config tells each option's effective value and where it came from.
func ExampleProducer_Config() {
	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers("127.0.0.1:9092"), linger.WithLogger(nil),
		linger.Acks("1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()
	for _, e := range p.Config() {
		switch e.Key {
		case "acks", "enable.idempotence", "linger.ms":
			fmt.Println(e.Key, "=", e.Value, "-", e.Origin())
		}
	}
	// Output:
	// acks = 1 - set by Acks
	// linger.ms = 5 - default
	// enable.idempotence = false - default; switched off because acks is set to 1, not set to 'all'
}
