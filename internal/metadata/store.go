package metadata

import (
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/backoff"
	"linger/internal/clock"
	"linger/internal/kerr"
)

// Options of a Store; the names in brackets are the options of the producer.
type Options struct {
	// MaxAgeMs is how old metadata may become (metadata.max.age.ms).
	MaxAgeMs int64
	// MaxIdleMs is how long a topic stays known that nobody uses (metadata.max.idle.ms).
	MaxIdleMs int64
	// Backoff is waited between requests (retry.backoff.ms, retry.backoff.max.ms).
	Backoff backoff.Exponential
	// ReconnectBackoffMs is waited when no node can take a request (reconnect.backoff.ms).
	ReconnectBackoffMs int64
	// Rebootstrap goes back to bootstrap.servers when no known broker helps (metadata.recovery.strategy).
	Rebootstrap bool
	// RebootstrapTriggerMs is how long brokers may fail to give metadata before that happens
	// (metadata.recovery.rebootstrap.trigger.ms).
	RebootstrapTriggerMs int64
	// Random gives the jitter of Backoff: numbers in [0,1). It is called once for each outcome of a request.
	Random func() float64
}

// Store keeps the metadata and knows when to ask for more. Only one goroutine may call it.
type Store struct {
	o Options

	topics map[string]*usage // topics to ask for
	order  []string          // their names in order of registration

	known   map[string]*knownTopic
	listed  []string             // names in known, in the order of the cluster
	ids     map[string][16]byte  // ids by name, also of topics with errors
	epochs  map[string][]int32   // newest leader epoch seen by partition, noEpoch when none
	refused map[string]kerr.Code // invalid and unauthorized topics
	failed  map[string]kerr.Code // topic errors of the last answer
	cluster *Cluster
	view    *View
	version int64

	fatal           error
	bootstrapFailed error // as fatal, but for good
	connectErr      error
	bootstrap       []Node

	wantAll bool // something known may be stale (Java: needFullUpdate)
	wantNew bool // new topics wait (Java: needPartialUpdate)
	// asked counts additions of new topics: an answer to an older request does not settle them (Java: requestVersion).
	asked int64
	out   *request // the request that is out

	refreshed    clock.Instant // when a request last ended, longAgo for "ask at once"
	refreshedAll clock.Instant // when all topics last came
	failures     int64         // requests that failed in a row
	failureWait  time.Duration
	sameAnswers  int64 // answers in a row that brought nothing new
	sameWait     time.Duration
	deferred     clock.Instant // no node could take a request: look again then

	attempting   bool // an update has been due since attemptStart and has not come
	attemptStart clock.Instant
}

type usage struct {
	expires clock.Instant
	fresh   bool // no broker has spoken of it yet
	ignored bool // a broker was asked for it, and answered without a word of it
}

type request struct {
	asked   int64
	newOnly bool
	topics  []kmsg.MetadataRequestTopic
}

// longAgo is before every instant of a clock, far enough from the end to add to.
const longAgo clock.Instant = math.MinInt64 / 2

// New makes a store without nodes: Bootstrap gives it some.
func New(o Options) *Store {
	s := &Store{
		o: o, topics: make(map[string]*usage), known: make(map[string]*knownTopic),
		ids: make(map[string][16]byte), epochs: make(map[string][]int32),
		refreshed: longAgo, refreshedAll: longAgo, deferred: longAgo, failureWait: o.Backoff.Duration(0, o.Random()),
	}
	s.publish(NewCluster(0, "", nil, nil))
	return s
}

// Cluster is the newest snapshot.
func (s *Store) Cluster() *Cluster { return s.cluster }

// View is the newest view.
func (s *Store) View() *View { return s.view }

// Add registers a topic to be fetched, or renews its idle expiry.
func (s *Store) Add(topic string, now clock.Instant) {
	if u := s.topics[topic]; u != nil {
		u.expires = now.AddMs(s.o.MaxIdleMs)
		return
	}
	s.topics[topic] = &usage{expires: now.AddMs(s.o.MaxIdleMs), fresh: true}
	s.order = append(s.order, topic)
	s.askForNew()
}

// Touch renews the idle expiry of a registered topic that was last used at used; others stay as they are.
func (s *Store) Touch(topic string, used clock.Instant) {
	if u := s.topics[topic]; u != nil {
		u.expires = max(u.expires, used.AddMs(s.o.MaxIdleMs))
	}
}

// Wanted reports whether the topic is registered.
func (s *Store) Wanted(topic string) bool { return s.topics[topic] != nil }

// Topics appends the registered topics to dst, in order of registration.
func (s *Store) Topics(dst []string) []string { return append(dst, s.order...) }

// RequestUpdate asks for all topics as soon as the back-off allows: something known has proved stale.
func (s *Store) RequestUpdate() { s.wantAll = true }

// RequestTopic asks for one topic: at once and alone when it is new, else as RequestUpdate does
// (Java: ProducerMetadata.requestUpdateForTopic). One that a broker was asked for and did not speak of waits for the
// back-off: Java asks again as fast as such a broker answers.
func (s *Store) RequestTopic(topic string) {
	u := s.topics[topic]
	if u == nil || !u.fresh {
		s.RequestUpdate()
		return
	}
	refreshed := s.refreshed
	s.askForNew()
	if u.ignored {
		s.refreshed = refreshed
	}
}

// askForNew lets the next request leave at once, whatever the back-off.
func (s *Store) askForNew() {
	s.refreshed = longAgo
	s.wantNew = true
	s.sameAnswers, s.sameWait = 0, 0
	s.asked++
}

// NextUpdate is when the next request is due; Never while one is out. An instant that is not after now means: now.
//
// Two back-offs hold it up, one for requests that failed and one for answers that bring nothing new: a broker that is
// behind the others answers without error. The second does not hold up the refresh by age (Java: timeToAllowUpdate).
func (s *Store) NextUpdate(now clock.Instant) clock.Instant {
	if s.out != nil {
		return clock.Never
	}
	aged := s.refreshedAll.AddMs(s.o.MaxAgeMs)
	if aged <= now {
		s.sameAnswers, s.sameWait = 0, 0
	}
	due := aged
	if s.wantAll || s.wantNew {
		due = now
	}
	due = max(due, s.refreshed.Add(s.failureWait))
	if due < aged {
		due = min(max(due, s.refreshed.Add(s.sameWait)), aged)
	}
	return max(due, now)
}

// Due reports whether a request should leave now.
func (s *Store) Due(now clock.Instant) bool { return s.NextUpdate(now) <= now }

// WakeAt is NextUpdate, but later when Defer said that no node could take the request; and not later than the instant
// at which RebootstrapDue becomes true.
func (s *Store) WakeAt(now clock.Instant) clock.Instant {
	at := s.NextUpdate(now)
	if at != clock.Never {
		at = max(at, s.deferred)
	}
	return min(at, s.rebootstrapAt())
}

// Defer notes that a request is due and no node can take it yet, be it that a connection is being made. Whatever
// happens next is a reason to look again; if nothing does, reconnect.backoff.ms passing is.
func (s *Store) Defer(now clock.Instant) {
	s.attempt(now)
	s.deferred = now.AddMs(s.o.ReconnectBackoffMs)
}

// retain reports whether the topic is still in use; one that is not is no longer asked for.
func (s *Store) retain(topic string, now clock.Instant) bool {
	u := s.topics[topic]
	switch {
	case u == nil:
		return false
	case u.fresh || u.expires > now:
		return true
	}
	delete(s.topics, topic)
	s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == topic })
	return false
}

// publish makes c the newest snapshot.
func (s *Store) publish(c *Cluster) {
	s.cluster = c
	s.renewView()
}

// renewView makes a view of the store as it is.
func (s *Store) renewView() {
	s.version++
	s.view = &View{
		Cluster: s.cluster, Version: s.version, Fatal: s.fatal, LastConnectError: s.connectErr,
		refused: s.refused, failed: s.failed,
	}
	if s.bootstrapFailed != nil {
		s.view.Fatal = s.bootstrapFailed
	}
}
