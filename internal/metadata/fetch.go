package metadata

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// Request is the request to send now: for the new topics alone when nothing else is due, for all registered ones
// otherwise. The caller sets its version, and ends it by Update or Failed. Brokers may create topics that do not exist
// (allow.auto.create.topics of a producer is always true).
func (s *Store) Request(now clock.Instant) *kmsg.MetadataRequest {
	s.attempt(now)
	newOnly := !s.wantAll && s.refreshedAll.AddMs(s.o.MaxAgeMs) > now
	s.out = &request{asked: s.asked, newOnly: newOnly}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = true
	req.Topics = []kmsg.MetadataRequestTopic{} // nil would ask for every topic of the cluster
	for _, name := range s.order {
		if newOnly && !s.topics[name].fresh {
			continue
		}
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	s.out.topics = req.Topics
	return req
}

// Update takes in the answer to the last request, in the version of the request, and reports whether there is a new
// snapshot. An answer without brokers comes from a broker that is still starting, and counts as a failure.
func (s *Store) Update(now clock.Instant, resp *kmsg.MetadataResponse) (changed bool) {
	out := s.out
	s.out = nil
	switch {
	case s.o.Rebootstrap && kerr.Code(resp.ErrorCode) == kerr.RebootstrapRequired:
		s.attempting, s.attemptStart = true, longAgo // any trigger has passed
		return false
	case len(resp.Brokers) == 0:
		s.failedAt(now)
		return false
	}
	if out == nil {
		out = &request{asked: s.asked}
	}
	s.wantNew = out.asked < s.asked
	s.refreshed = now
	s.failures, s.failureWait = 0, s.o.Backoff.Duration(0, s.o.Random())
	if !out.newOnly {
		s.wantAll = false
		s.refreshedAll = now
	}
	s.sameAnswers++ // until something in the answer is new
	s.absorb(now, resp, out)
	s.sameWait = 0
	if s.sameAnswers > 0 {
		s.sameWait = s.o.Backoff.Duration(s.sameAnswers-1, s.o.Random())
	}
	s.attempting = false
	s.fatal, s.connectErr = nil, nil
	s.renewView()
	return true
}

// Failed takes in that the last request, or the attempt to find a broker for it, failed with err (nil: nobody knows
// why). An error that no later try can mend is Fatal.
func (s *Store) Failed(now clock.Instant, err error) {
	s.out = nil
	s.failedAt(now)
	if err == nil {
		return
	}
	if errors.Is(err, kerr.ErrAuthentication) || kerr.CodeOf(err) == kerr.UnsupportedVersion {
		s.Fatal(err)
		return
	}
	if s.connectErr == nil {
		s.connectErr = err
		s.renewView()
	}
}

func (s *Store) failedAt(now clock.Instant) {
	s.refreshed = now
	s.failures++
	s.failureWait = s.o.Backoff.Duration(s.failures-1, s.o.Random())
	s.sameAnswers, s.sameWait = 0, 0
}

// Disconnected takes in that the connection to some broker ended, with err if it is worth telling. The metadata may be
// why, so it is asked for again; and when a request was due it counts as failed, so that the back-off grows
// (Java: handleServerDisconnect).
func (s *Store) Disconnected(now clock.Instant, err error) {
	if s.Due(now) {
		s.failedAt(now)
	}
	switch {
	case err == nil:
	case errors.Is(err, kerr.ErrAuthentication):
		s.Fatal(err)
	case s.connectErr == nil && s.attempting:
		s.connectErr = err
		s.renewView()
	}
	s.RequestUpdate()
}

// Fatal shows err to every caller that waits for metadata, until a broker answers.
func (s *Store) Fatal(err error) {
	s.fatal = err
	s.renewView()
}
