package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"linger"
	"linger/lingertest/kafka"
)

// Send returns before the broker answers; the outcome comes through the Future, and through a callback if there is one.
func Example_send() {
	ctx := context.Background()
	b, err := kafka.Start(kafka.Options{Topics: map[string]int32{"orders": 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers(b.Addrs()...), linger.WithLogger(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()

	fut, err := p.Send(ctx, linger.Record[string, string]{Topic: "orders", Key: "id-1", Value: "three apples"},
		func(md linger.RecordMetadata, err error) { fmt.Println("callback:", md.Offset, err) })
	if err != nil {
		fmt.Println(err) // nothing was taken
		return
	}
	md, err := fut.Wait(ctx) // the callback has run when Wait returns
	fmt.Printf("%s-%d at offset %d, error %v\n", md.Topic, md.Partition, md.Offset, err)

	recs, err := b.ReadAll(ctx, "orders")
	fmt.Printf("%s=%s, error %v\n", recs[0].Key, recs[0].Value, err)
	// Output:
	// callback: 0 <nil>
	// orders-0 at offset 0, error <nil>
	// id-1=three apples, error <nil>
}

// TrySend never waits: where Send would, for metadata or for memory, it takes nothing. Warm fetches metadata beforehand.
func Example_trySend() {
	ctx := context.Background()
	b, err := kafka.Start(kafka.Options{Topics: map[string]int32{"metrics": 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	p, err := linger.New(linger.Void, linger.String, linger.BootstrapServers(b.Addrs()...), linger.WithLogger(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()

	sample := linger.Record[struct{}, string]{Topic: "metrics", Value: "load=0.7"}
	_, err = p.TrySend(sample, nil)
	fmt.Println("cold:", errors.Is(err, linger.ErrWouldBlock))
	if err := p.Warm(ctx, "metrics"); err != nil {
		fmt.Println(err)
		return
	}
	fut, err := p.TrySend(sample, nil)
	fmt.Println("warm:", err)
	md, err := fut.Wait(ctx)
	fmt.Println(md.Offset, err)
	// Output:
	// cold: true
	// warm: <nil>
	// 0 <nil>
}

// A failed record's error says what happened and what to do about it.
func Example_errors() {
	ctx := context.Background()
	b, err := kafka.Start(kafka.Options{Topics: map[string]int32{"orders": 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers(b.Addrs()...), linger.WithLogger(nil), linger.Retries(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()

	_, err = p.SendSync(ctx, linger.Record[string, string]{Topic: "orders", Value: strings.Repeat("v", 2<<20)}) // max.request.size is 1 MiB
	fmt.Println("too large:", errors.Is(err, linger.ErrRecordTooLarge))
	if _, err := b.FailNext(kafka.Produce, 19, 1); err != nil { // NOT_ENOUGH_REPLICAS
		fmt.Println(err)
		return
	}
	_, err = p.SendSync(ctx, linger.Record[string, string]{Topic: "orders", Value: "v"})
	if e, ok := errors.AsType[*linger.ProducerError](err); ok {
		fmt.Println(e.Topic, e.Partition, e.Code.Name(), linger.ClassOf(err))
	}
	// Output:
	// too large: true
	// orders 0 NOT_ENOUGH_REPLICAS retriable
}
