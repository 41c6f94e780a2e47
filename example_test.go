package linger_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"linger"
)

// vip keeps partition 0 for important customers and spreads everybody else over the others.
type vip struct{}

func (vip) Partition(topic string, key, _ []byte, cluster linger.Cluster) (int32, error) {
	count := cluster.PartitionCount(topic)
	if count < 2 {
		return 0, nil // there is nobody to keep partition 0 for
	}
	switch {
	case bytes.HasPrefix(key, []byte("VIP:")):
		return 0, nil
	case key == nil:
		return 1 + rand.Int32N(count-1), nil
	}
	return 1 + linger.Murmur2Partition(key, count-1), nil
}

// A partitioner sees the serialized key and value; linger.WithPartitioner(vip{}) makes a producer use it.
func ExamplePartitioner() {
	cluster := linger.ClusterOf(map[string]int32{"orders": 6})
	for _, key := range []string{"VIP:anna", "user-42", "foobar", "a"} {
		n, err := vip{}.Partition("orders", []byte(key), nil, cluster)
		fmt.Println(key, n, err)
	}
	// Output:
	// VIP:anna 0 <nil>
	// user-42 1 <nil>
	// foobar 2 <nil>
	// a 5 <nil>
}
