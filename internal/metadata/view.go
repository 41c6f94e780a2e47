package metadata

import "linger/internal/kerr"

// View is what callers that wait for metadata look at: the cluster and what stands in the way. It is immutable.
type View struct {
	*Cluster
	// Version grows with each view of a store; a new cluster makes a new view, and so do the errors below.
	Version int64
	// Fatal is why no metadata can be had at all: authentication failed, no version in common, or bootstrap.servers
	// does not resolve. It goes when a broker answers.
	Fatal error
	// LastConnectError is why no broker answered lately, nil when one did.
	LastConnectError error

	refused map[string]kerr.Code // invalid and unauthorized topics
	failed  map[string]kerr.Code // whatever the last answer said of topics
}

// TopicErr is what brokers say of the topic, None when nothing: INVALID_TOPIC_EXCEPTION and TOPIC_AUTHORIZATION_FAILED
// for as long as it is in use, other errors until the next answer.
func (v *View) TopicErr(name string) kerr.Code {
	if code, ok := v.refused[name]; ok {
		return code
	}
	return v.failed[name]
}
