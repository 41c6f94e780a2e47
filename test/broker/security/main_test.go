//go:build unix

package security_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"linger/test/broker/kafkatest"
)

// The package's one cluster, and what it needs beside it. Tests leave its nodes alone.
var (
	brokers kafkatest.Set
	beside  world
)

// world is made for the first test that asks.
type world struct {
	once   sync.Once
	secure *kafkatest.Secure
	err    error
}

func (w *world) get() (*kafkatest.Secure, error) {
	w.once.Do(func() { w.secure, w.err = kafkatest.NewSecure(context.Background()) })
	return w.secure, w.err
}

func (w *world) close() error {
	if w.secure == nil || w.err != nil { // one that could not be made has tidied up
		return nil
	}
	return w.secure.Close()
}

func TestMain(m *testing.M) { os.Exit(brokers.Run(m, beside.close)) }

// secure is the world with its cluster.
func secure(t *testing.T) (*kafkatest.Secure, *kafkatest.Cluster) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves real brokers out")
	}
	s, err := beside.get()
	if err != nil {
		t.Fatal(err)
	}
	return s, brokers.Get(t, s.Options())
}
