//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Set keeps the clusters that the tests of one package share: each kind is started when a test first asks for it and lives
// until Close. The zero value is empty and ready; its methods may be called from several goroutines.
type Set struct {
	mu      sync.Mutex
	started map[string]*shared
}

// shared is one cluster and whether a test that used it has failed.
type shared struct {
	cluster *Cluster
	err     error // the start failed: every test that asks hears so, nobody tries again
	failed  bool
}

// Get returns the set's cluster for the options, and starts it if it is the first to ask. Tests that share a cluster take
// topics of their own (TopicName) and leave its nodes alone. Under -short the test is skipped.
func (s *Set) Get(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	skipShort(tb)
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.started[o.key()]
	if sh == nil {
		sh = &shared{}
		// Not the test's context: the cluster outlives it.
		sh.cluster, sh.err = Start(context.WithoutCancel(tb.Context()), o)
		if s.started == nil {
			s.started = map[string]*shared{}
		}
		s.started[o.key()] = sh
	}
	if sh.err != nil {
		tb.Fatal(sh.err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			s.mu.Lock()
			defer s.mu.Unlock()
			sh.failed = true
			tb.Logf("broker logs and data are kept in %s", sh.cluster.dir)
		}
	})
	return sh.cluster
}

// Run is the whole of a TestMain: it runs the tests, closes the set and what stands beside it, and looks for goroutines
// that are still there.
func (s *Set) Run(m *testing.M, beside ...func() error) (code int) {
	defer func() { // a panic in a test ends the process elsewhere; see proc_linux.go
		errs := []error{s.Close()}
		for _, end := range beside {
			errs = append(errs, end())
		}
		http.DefaultClient.CloseIdleConnections()
		errs = append(errs, stillThere())
		if err := errors.Join(errs...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}()
	return m.Run()
}

// stillThere is an error that tells of goroutines that do not end. Find gives them a second or two, which is little on a busy
// machine.
func stillThere() (err error) {
	for range 20 {
		if err = goleak.Find(); err == nil {
			break
		}
	}
	return err
}

// Close ends all clusters of the set. The folders of those that a failed test used are kept.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, sh := range s.started {
		if sh.err == nil {
			errs = append(errs, sh.cluster.Close(sh.failed))
		}
	}
	s.started = nil
	return errors.Join(errs...)
}
