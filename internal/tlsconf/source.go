package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Source gives each dial its configuration. It is safe for concurrent use.
type Source struct {
	base      *tls.Config // never nil, never changed
	ours      bool        // base is not the application's
	now       func() time.Time
	log       func(slog.Level, string)
	protocol  protocol
	checkPeer bool
	checkHost bool
	key       *store // nil: none
	trust     *store // nil: none

	// mu guards all below and is held while files are read: a second dial must not go out with what the first has found to be
	// outdated.
	mu       sync.Mutex
	keyAt    stamp // of the file that own was read from
	own      []tls.Certificate
	trustAt  stamp          // of the file that anchored was read from
	anchored *x509.CertPool // nil: the base's or the system's roots
	toldAt   time.Time      // when the ends of our own certificates were last looked at
	lines    []line         // to be logged once mu is free: a logger is the application's code
}

type line struct {
	level slog.Level
	text  string
}

func (s *Source) tell(level slog.Level, format string, args ...any) {
	s.lines = append(s.lines, line{level, fmt.Sprintf(format, args...)})
}

func (s *Source) logAll(lines []line) {
	for _, l := range lines {
		s.log(l.level, l.text)
	}
}

// New reads the stores and checks the options as Java does when a producer is made. The error is an *Error.
func New(o Options) (*Source, error) {
	s := &Source{base: o.Base, ours: o.Base == nil, now: o.Now, log: o.Log}
	if s.base == nil {
		s.base = &tls.Config{}
	}
	var err error
	if s.key, err = keystoreOf(&o); err != nil {
		return nil, err
	}
	if s.trust, err = truststoreOf(&o); err != nil {
		return nil, err
	}
	s.keyAt, s.trustAt = s.key.stamp(), s.trust.stamp()
	if err := s.readOwn(); err != nil {
		return nil, err
	}
	if err := s.readAnchors(); err != nil {
		return nil, err
	}
	if s.protocol, err = readProtocol(&o); err != nil {
		return nil, err
	}
	if err := s.readChecks(&o); err != nil {
		return nil, err
	}
	s.protocol.leaveTo(s.base, o.Given)
	s.tellExpiry()
	s.logAll(s.lines)
	s.lines = nil
	return s, nil
}

// readChecks finds out what of the peer is checked.
func (s *Source) readChecks(o *Options) error {
	name, _ := o.text(endpointIdentification)
	switch {
	case name == "" || strings.EqualFold(name, "https"):
		s.checkHost = name != ""
	default:
		return &Error{Option: endpointIdentification, Message: "Unknown identification algorithm: " + name, Remedy: "Use https, or the empty string to leave the check out."}
	}
	s.checkPeer = !s.base.InsecureSkipVerify
	if s.checkPeer {
		return nil
	}
	for _, key := range []string{truststoreLocation, truststoreCerts, endpointIdentification} {
		if o.Given(key) {
			return &Error{Option: key, Message: "the given tls.Config has InsecureSkipVerify, so nothing would be checked", Remedy: "Leave one of the two out."}
		}
	}
	return nil
}

// Config is the configuration for a connection to host, a name or an IP address; the caller may change it. Files that have
// changed since the last call are read first.
func (s *Source) Config(host string) *tls.Config {
	var own []tls.Certificate
	var roots *x509.CertPool
	s.looked(func() { own, roots = s.own, s.anchored })

	c := s.base.Clone()
	if own != nil {
		c.Certificates, c.GetClientCertificate = own, nil
	}
	if roots != nil {
		c.RootCAs = roots
	}
	c.MinVersion, c.MaxVersion, c.CipherSuites = s.protocol.low, s.protocol.high, s.protocol.suites
	if c.ServerName == "" {
		c.ServerName = plainHost(host)
	}
	if s.checkPeer {
		v := &verifier{host: c.ServerName, checkHost: s.checkHost, roots: c.RootCAs, now: s.now}
		if !s.ours {
			v.base = s.base
		}
		if s.base.Time != nil {
			v.now = s.base.Time
		}
		c.InsecureSkipVerify = true // verify does what it leaves out
		c.VerifyPeerCertificate, c.VerifyConnection = nil, v.verify
	}
	return c
}

// plainHost is host as certificates have it.
func plainHost(host string) string {
	host, _, _ = strings.Cut(host, "%") // an IPv6 zone
	return strings.TrimSuffix(host, ".")
}

// looked lets read see what is in force now, and logs what there is to tell of it once mu is free.
func (s *Source) looked(read func()) {
	s.mu.Lock()
	s.look()
	read()
	lines := s.lines
	s.lines = nil
	s.mu.Unlock()
	s.logAll(lines)
}

// look reads again what has changed. What can't be read is told once and leaves the former in force. Certificates of ours
// that will soon end are told of once a day.
func (s *Source) look() {
	if at := s.key.stamp(); !at.same(s.keyAt) {
		s.keyAt = at
		if s.tellOf(s.key, s.reread(s.key, at, s.readOwn)) {
			s.tellExpiry()
		}
	}
	if at := s.trust.stamp(); !at.same(s.trustAt) {
		s.trustAt = at
		s.tellOf(s.trust, s.reread(s.trust, at, s.readAnchors))
	}
	if s.now().Sub(s.toldAt) >= day {
		s.tellExpiry()
	}
}

// reread reads a store that must not change meanwhile; one that does is read again at the next dial.
func (s *Source) reread(st *store, at stamp, read func() error) error {
	own, anchored := s.own, s.anchored
	err := read()
	if err == nil && !st.stamp().same(at) {
		err = st.failed(flawed("It is read again for the next connection.", "it changed while it was read"))
	}
	if err != nil {
		s.own, s.anchored = own, anchored
	}
	return err
}

// tellOf tells how reading a store again went.
func (s *Source) tellOf(st *store, err error) (readAgain bool) {
	if err != nil {
		s.tell(slog.LevelWarn, "SSL store %s has changed and can't be used; the former contents stay in force: %v", st.path, err)
		return false
	}
	s.tell(slog.LevelInfo, "SSL store %s (%s) has changed and was read again.", st.path, st.option)
	return true
}

func (s *Source) readOwn() (err error) {
	if s.key != nil {
		s.own, err = s.key.identities()
	}
	return err
}

func (s *Source) readAnchors() error {
	if s.trust == nil {
		return nil
	}
	certs, err := s.trust.anchors()
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	s.anchored = pool
	return nil
}

// stamp tells one state of a file from another without reading it.
type stamp struct{ info os.FileInfo } // nil: no such file, or none to look at

// stamp follows links, since mounted secrets are renewed by turning one.
func (s *store) stamp() stamp {
	if s == nil || !s.inFile {
		return stamp{}
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

func (a stamp) same(b stamp) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil
	}
	return a.info.ModTime().Equal(b.info.ModTime()) && a.info.Size() == b.info.Size() && os.SameFile(a.info, b.info)
}
