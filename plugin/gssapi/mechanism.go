package gssapi

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/jcmturner/gokrb5/v8/config"

	"linger/internal/clock"
	"linger/internal/sasl"
)

// Mechanism is the SASL mechanism GSSAPI; hand it to linger.WithSASLMechanism. The zero value is ready. It reads the
// producer's options (sasl.jaas.config, sasl.kerberos.*), talks to the KDC when the first connection is made, and is safe
// for concurrent use. It is one producer's: use another one for another producer.
type Mechanism struct {
	// Krb5Conf is the path of krb5.conf. Empty: the first file of the environment variable KRB5_CONFIG that is there, else
	// /etc/krb5.conf. It stands for Java's system property java.security.krb5.conf.
	Krb5Conf string

	service string
	login   *login
	working sync.WaitGroup // goroutines that wait for a KDC

	mu     sync.Mutex // guards closed
	closed bool
}

// Name is "GSSAPI".
func (*Mechanism) Name() string { return sasl.GSSAPIName }

// Configure reads the options; linger calls it while the producer is made. The error names the option and what to do.
func (m *Mechanism) Configure(values map[string]string) error {
	o, err := optionsOf(values)
	if err != nil {
		return err
	}
	path := m.Krb5Conf
	if path == "" {
		path = krb5Conf(os.Getenv("KRB5_CONFIG"))
	}
	krb5, err := loadKrb5(path)
	if err != nil {
		return err
	}
	m.service = o.service
	m.login, err = newLogin(o, krb5, clock.Real(), rand.Float64)
	return err
}

// Session begins an exchange with the broker known as host; its principal is service/host.
func (m *Mechanism) Session(host string) (sasl.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, errors.New("mechanism GSSAPI: the producer is closed")
	case m.login == nil:
		return nil, errors.New("mechanism GSSAPI: Configure was not called")
	}
	return &session{principal: m.service + "/" + strings.TrimSuffix(host, "."), tickets: m}, nil
}

// Close waits for requests to KDCs that are under way; each gives up after some seconds.
func (m *Mechanism) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.working.Wait()
	return nil
}

// krb5Conf is the first file of a list like KRB5_CONFIG's that is there.
func krb5Conf(list string) string {
	first := ""
	for path := range strings.SplitSeq(list, string(os.PathListSeparator)) {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if first == "" {
			first = path
		}
	}
	if first != "" {
		return first
	}
	return "/etc/krb5.conf"
}

// loadKrb5 reads krb5.conf. A part that the library doesn't know is no reason to refuse the rest.
func loadKrb5(path string) (krb5 *config.Config, err error) {
	defer recoverTo(&err, "krb5.conf "+path)
	krb5, err = config.Load(path)
	if _, onlyUnknown := errors.AsType[config.UnsupportedDirective](err); onlyUnknown {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("krb5.conf: %w; set gssapi.Mechanism.Krb5Conf or the environment variable KRB5_CONFIG", err)
	}
	return krb5, nil
}

// recoverTo makes an error of a panic: the library's readers trust their input.
func recoverTo(err *error, what string) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s is damaged (%T)", what, v)
	}
}

// options are what a Java client's options come to.
type options struct {
	service   string
	principal string // empty: who the ticket of kinit is about
	keytab    string // empty: the ticket of kinit is used
	cache     string
	factor    float64
	jitter    float64
	minMs     int64
}

const (
	keyJAAS    = "sasl.jaas.config"
	keyService = "sasl.kerberos.service.name"
)

func optionsOf(values map[string]string) (options, error) {
	var o options
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(_, v string) bool { return v == "null" }) // what linger shows of an option without a value
	text := strings.TrimSpace(values[keyJAAS])
	if text == "" {
		return o, errors.New(keyJAAS + ` is not set; GSSAPI needs a login: ` + sasl.GSSAPIModule +
			` required useKeyTab=true keyTab="/path" principal="me@REALM"; or with useTicketCache=true`)
	}
	l, err := sasl.ParseJAAS(text)
	if err == nil {
		err = l.Fits(sasl.GSSAPIName, sasl.GSSAPIModule)
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w", keyJAAS, err)
	}
	if o.service, err = serviceOf(values[keyService], l.Options["serviceName"]); err != nil {
		return o, err
	}
	o.principal = l.Options["principal"]
	if err := o.readSource(l.Options); err != nil {
		return o, fmt.Errorf("%s: %w", keyJAAS, err)
	}
	return o, o.readRenewal(values)
}

// serviceOf is the brokers' service name, by the two places that may give it (in Java: KerberosLogin.getServiceName).
func serviceOf(option, jaas string) (string, error) {
	switch {
	case option != "" && jaas != "" && option != jaas:
		return "", fmt.Errorf("Conflicting serviceName values found in JAAS (%s) and in %s (%s); leave one out", jaas, keyService, option)
	case option != "":
		return option, nil
	case jaas != "":
		return jaas, nil
	}
	return "", errors.New("No serviceName defined in either JAAS or Kafka config; set " + keyService + ", usually to kafka")
}

// readSource finds out where tickets come from. As in Java, a ticket of kinit is used when both are allowed and there is one.
func (o *options) readSource(jaas map[string]string) error {
	yes := func(option string) bool { return strings.EqualFold(jaas[option], "true") }
	if yes("useTicketCache") {
		o.cache = jaas["ticketCache"]
		if o.cache == "" {
			o.cache = os.Getenv("KRB5CCNAME")
		}
		if o.cache == "" {
			o.cache = "/tmp/krb5cc_" + strconv.Itoa(os.Getuid())
		}
		kind, path, found := strings.Cut(o.cache, ":")
		switch {
		case found && kind == "FILE":
			o.cache = path
		case found && len(kind) > 1:
			return fmt.Errorf("ticket caches of type %s can't be read; use a file: set KRB5CCNAME or option ticketCache to FILE:/path", kind)
		}
	}
	if yes("useKeyTab") {
		if o.principal == "" {
			return errors.New("option useKeyTab needs option principal")
		}
		if o.keytab = strings.TrimPrefix(jaas["keyTab"], "file:"); o.keytab == "" {
			o.keytab = strings.TrimPrefix(os.Getenv("KRB5_KTNAME"), "FILE:")
		}
		if o.keytab == "" {
			o.keytab = "/etc/krb5.keytab"
		}
	}
	if o.cache == "" && o.keytab == "" {
		return errors.New("neither option useKeyTab nor option useTicketCache is true; nobody is asked for a password here")
	}
	return nil
}

func (o *options) readRenewal(values map[string]string) (err error) {
	number := func(key string, otherwise float64) float64 {
		text := values[key]
		if text == "" {
			return otherwise
		}
		f, e := strconv.ParseFloat(text, 64)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %q is no number", key, text)
		}
		return f
	}
	o.factor = number("sasl.kerberos.ticket.renew.window.factor", 0.8)
	o.jitter = number("sasl.kerberos.ticket.renew.jitter", 0.05)
	o.minMs = int64(number("sasl.kerberos.min.time.before.relogin", 60_000))
	return err
}
