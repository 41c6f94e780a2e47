package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"linger/internal/tlstest"
)

// cluster is a broker whose authority can be replaced, and the files of a client.
type cluster struct {
	trust, key string // paths
	seen       string // whose certificate the broker saw last
}

func pemFiles(t *testing.T) (*cluster, given) {
	dir := t.TempDir()
	c := &cluster{trust: filepath.Join(dir, "trust.pem"), key: filepath.Join(dir, "key.pem")}
	return c, given{truststoreType: "PEM", truststoreLocation: c.trust, keystoreType: "PEM", keystoreLocation: c.key}
}

func (c *cluster) writeTrust(t *testing.T, ca *tlstest.CA) { replace(t, c.trust, ca.PEM()) }

func (c *cluster) writeKey(t *testing.T, own tls.Certificate) {
	replace(t, c.key, tlstest.KeyPEM(t, own)+tlstest.CertPEM(own.Certificate...))
}

// replace turns path into another file at once, as a careful program does.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	must(t, os.Rename(path+".new", path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// broker asks for a certificate of ca.
func (c *cluster) broker(ca *tlstest.CA) *server {
	return &server{config: &tls.Config{
		Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(),
		VerifyConnection: func(cs tls.ConnectionState) error { c.seen = cs.PeerCertificates[0].Subject.CommonName; return nil },
	}}
}

// SEC-03, SEC-04: authority and client certificate are replaced while the producer lives.
func TestRenewedStoresCountForTheNextConnection(t *testing.T) {
	c, options := pemFiles(t)
	old, fresh := tlstest.NewCA(t, "old"), tlstest.NewCA(t, "fresh")
	c.writeTrust(t, old)
	c.writeKey(t, old.Issue("producer-old", nil))
	j := new(journal)
	s, err := New(options.options(j))
	if err != nil {
		t.Fatal(err)
	}
	shake := func(ca *tlstest.CA) error {
		ours, theirs := c.broker(ca).shake(t, s.Config("kafka.example"))
		if ours == nil {
			ours = theirs
		}
		return ours
	}
	if err := shake(old); err != nil || c.seen != "producer-old" {
		t.Fatalf("the broker saw %q: %v", c.seen, err)
	}
	if err := shake(fresh); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("before it is trusted: %v", err)
	}
	c.writeTrust(t, fresh)
	c.writeKey(t, fresh.Issue("producer-fresh", nil))
	if err := shake(fresh); err != nil || c.seen != "producer-fresh" {
		t.Errorf("the broker saw %q: %v", c.seen, err)
	}
	if err := shake(old); err == nil {
		t.Error("the old authority is still trusted")
	}
	if log := j.take(); strings.Count(log, "INFO") != 2 || strings.Count(log, "has changed and was read again") != 2 {
		t.Errorf("logged:\n%s", log)
	}
}

// What can't be read leaves the former in force, and is told once for each change.
func TestStoresThatBreakChangeNothing(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	own := ca.Issue("producer", nil)
	whole := tlstest.KeyPEM(t, own) + tlstest.CertPEM(own.Certificate...)
	breakIt := map[string]func(t *testing.T, path string){
		"half written":           func(t *testing.T, path string) { write(t, path, whole[:len(whole)/2]) },
		"empty":                  func(t *testing.T, path string) { write(t, path, "") },
		"gone":                   func(t *testing.T, path string) { os.Remove(path) },
		"a folder in its place":  func(t *testing.T, path string) { os.Remove(path); must(t, os.Mkdir(path, 0o700)) },
		"another's certificate":  func(t *testing.T, path string) { write(t, path, tlstest.KeyPEM(t, own)+ca.PEM()) },
		"only the certificate":   func(t *testing.T, path string) { write(t, path, tlstest.CertPEM(own.Certificate...)) },
		"a link that leads away": func(t *testing.T, path string) { os.Remove(path); must(t, os.Symlink(path+".none", path)) },
	}
	for name, broken := range breakIt {
		t.Run(name, func(t *testing.T) {
			c, options := pemFiles(t)
			c.writeTrust(t, ca)
			c.writeKey(t, own)
			j := new(journal)
			s, err := New(options.options(j))
			if err != nil {
				t.Fatal(err)
			}
			broken(t, c.key)
			for range 3 {
				if ours, theirs := c.broker(ca).shake(t, s.Config("kafka.example")); ours != nil || theirs != nil || c.seen != "producer" {
					t.Errorf("%v, %v", ours, theirs)
				}
			}
			log := j.take()
			if strings.Count(log, "\n") != 0 || !strings.HasPrefix(log, "WARN SSL store "+c.key) || !strings.Contains(log, keystoreLocation) {
				t.Errorf("logged, want one line:\n%s", log)
			}
			os.RemoveAll(c.key)
			write(t, c.key, whole)
			s.Config("kafka.example")
			if log := j.take(); !strings.Contains(log, "read again") {
				t.Errorf("once it is whole: %q", log)
			}
		})
	}
}

// A file that is written while it is read must not count half.
func TestAStoreThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	c, options := pemFiles(t)
	first, second := tlstest.NewCA(t, "first"), tlstest.NewCA(t, "second")
	c.writeTrust(t, first)
	c.writeKey(t, first.Issue("producer", nil))
	j := new(journal)
	s, err := New(options.options(j))
	if err != nil {
		t.Fatal(err)
	}
	before := s.anchored
	seen := s.trust.stamp()
	err = s.reread(s.trust, seen, func() error {
		c.writeTrust(t, second)
		return s.readAnchors()
	})
	if err == nil || s.anchored != before {
		t.Errorf("took it: %v", err)
	}
	s.Config("kafka.example")
	if s.anchored == before {
		t.Error("it was not read again")
	}
}

// A file that stays as it is, is not read again; one that is touched, resized or exchanged is.
func TestOnlyChangedFilesAreRead(t *testing.T) {
	c, options := pemFiles(t)
	ca := tlstest.NewCA(t, "authority")
	c.writeTrust(t, ca)
	c.writeKey(t, ca.Issue("producer", nil))
	s := accept(t, options)
	pool := s.anchored
	s.Config("h")
	if s.anchored != pool {
		t.Error("read without reason")
	}
	later := time.Now().Add(time.Hour)
	for name, change := range map[string]func(){
		"touched": func() { must(t, os.Chtimes(c.trust, later, later)) },
		"longer":  func() { write(t, c.trust, ca.PEM()+"\n"); must(t, os.Chtimes(c.trust, later, later)) },
		"exchanged": func() {
			write(t, c.trust+"2", ca.PEM()+"\n")
			must(t, os.Chtimes(c.trust+"2", later, later))
			must(t, os.Rename(c.trust+"2", c.trust))
		},
	} {
		pool = s.anchored
		change()
		if s.Config("h"); s.anchored == pool {
			t.Errorf("%s, and not read", name)
		}
		later = later.Add(time.Hour)
	}
}

func TestManyDialsAtOnceSeeTheNewStore(t *testing.T) {
	c, options := pemFiles(t)
	old, fresh := tlstest.NewCA(t, "old"), tlstest.NewCA(t, "fresh")
	c.writeTrust(t, old)
	c.writeKey(t, old.Issue("producer", nil))
	o := options.options(new(journal))
	var mu sync.Mutex
	lines := 0
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.log = func(_ slog.Level, _ string) { mu.Lock(); lines++; mu.Unlock(); s.Config("h") } // a log handler may call back
	c.writeTrust(t, fresh)
	want := fresh.Pool()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if got := s.Config("h").RootCAs; !got.Equal(want) {
				t.Error("a dial got the old store after it had changed")
			}
		})
	}
	wg.Wait()
	if lines != 1 {
		t.Errorf("%d lines, want 1", lines)
	}
}

func TestTheEndOfOurCertificateIsToldInTime(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	ending := func(at time.Time) tls.Certificate {
		return ca.Issue("producer", func(c *x509.Certificate) { c.NotAfter = at })
	}
	for name, tt := range map[string]struct {
		end time.Time
		log string
	}{
		"in a year":             {now.AddDate(1, 0, 0), ""},
		"in 30 days":            {now.AddDate(0, 0, 30), ""},
		"in just under 30 days": {now.AddDate(0, 0, 30).Add(-time.Second), "WARN The client's own certificate CN=producer (ssl.keystore.key) expires in 29 days"},
		"today":                 {now.Add(time.Hour), "expires in 0 days"},
		"an hour ago":           {now.Add(-time.Hour), "WARN The client's own certificate CN=producer (ssl.keystore.key) expired on 2024-12-31 23:00:00 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			own := ending(tt.end)
			j := new(journal)
			if _, err := New(inlineKey(tlstest.KeyPEM(t, own), tlstest.CertPEM(own.Certificate...)).options(j)); err != nil {
				t.Fatal(err)
			}
			if log := j.take(); !strings.HasPrefix(log, tt.log) && !strings.Contains(log, tt.log) || tt.log == "" && log != "" {
				t.Errorf("logged %q, want %q", log, tt.log)
			}
		})
	}
}
