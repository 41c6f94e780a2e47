package gssapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"

	"linger/internal/clock"
)

// login is who we are to the KDC. One goroutine at a time talks to it.
//
// The library could renew tickets by itself, on goroutines that nobody waits for and by times of its own; so it is only asked
// for single requests here, and the tickets are kept by us.
type login struct {
	o      options
	krb5   *config.Config
	clk    clock.Clock
	random func() float64
	// What talks to the KDC; tests have their own.
	logIn func() (*client.Client, grant, error)
	ask   func(principal string) (grant, error)

	mu       sync.Mutex // guards all below; held across requests to the KDC
	client   *client.Client
	tgt      grant
	renewMs  int64 // when tgt is replaced
	triedMs  int64 // when it was last tried to
	services map[string]grant
}

// grant is a ticket and the key to use it with.
type grant struct {
	ticket     messages.Ticket
	key        types.EncryptionKey
	start, end time.Time
}

func (g grant) good(nowMs int64) bool { return nowMs < g.end.UnixMilli() }

// newLogin reads the files that must be there.
func newLogin(o options, krb5 *config.Config, clk clock.Clock, random func() float64) (*login, error) {
	l := &login{o: o, krb5: krb5, clk: clk, random: random, services: map[string]grant{}}
	l.logIn, l.ask = l.renew, l.askKDC
	if o.keytab == "" {
		return l, nil // the ticket of kinit may come later
	}
	_, err := l.fromKeytab()
	return l, err
}

// fromKeytab is a client with the keys in the key table.
func (l *login) fromKeytab() (c *client.Client, err error) {
	defer recoverTo(&err, "key table "+l.o.keytab)
	kt, err := keytab.Load(l.o.keytab)
	if err != nil {
		return nil, fmt.Errorf("%s: option keyTab: %s: %w", keyJAAS, l.o.keytab, err)
	}
	name, realm := l.o.principal, l.krb5.LibDefaults.DefaultRealm
	if at := strings.LastIndexByte(name, '@'); at >= 0 {
		name, realm = name[:at], name[at+1:]
	}
	if realm == "" {
		return nil, fmt.Errorf("%s: option principal has no realm (%s@REALM), and krb5.conf no default_realm", keyJAAS, name)
	}
	for _, e := range kt.Entries {
		if strings.Join(e.Principal.Components, "/") == name && e.Principal.Realm == realm {
			return client.NewWithKeytab(name, realm, kt, l.krb5, client.DisablePAFXFAST(true)), nil
		}
	}
	return nil, fmt.Errorf("%s: key table %s has no key of %s@%s", keyJAAS, l.o.keytab, name, realm)
}

// token is the first message to a broker, and the key that the exchange is checked with.
func (l *login) token(principal string) (message []byte, key types.EncryptionKey, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer recoverTo(&err, "a message of the KDC's")
	if err := l.affirm(); err != nil {
		return nil, key, err
	}
	service, ok := l.services[principal]
	if !ok || !service.good(l.clk.WallMs()) {
		if service, err = l.ask(principal); err != nil {
			return nil, key, err
		}
		l.services[principal] = service
	}
	// Java asks for no mutual authentication either: the broker proves that it has the service's key by the checksum of its
	// answer. Replays and the sequence of messages are not to be watched: the library's messages all have the number 0, and
	// Java's brokers would refuse them (GssKrb5Base.checkMessageProp).
	t, err := spnego.NewKRB5TokenAPREQ(l.client, service.ticket, service.key, []int{gssapi.ContextFlagInteg}, nil)
	if err != nil {
		return nil, key, fmt.Errorf("Kerberos: %w", err)
	}
	message, err = t.Marshal()
	return message, service.key, err
}

// affirm makes sure that there is a ticket that gets tickets. One that is still good is kept when no new one can be had.
func (l *login) affirm() error {
	now := l.clk.WallMs()
	if l.client != nil && now < l.renewMs {
		return nil
	}
	good := l.client != nil && l.tgt.good(now)
	if good && now < l.triedMs+l.o.minMs {
		return nil
	}
	l.triedMs = now
	c, tgt, err := l.logIn()
	switch {
	case err == nil && tgt.good(now):
	case good:
		return nil
	case err == nil:
		return fmt.Errorf("Kerberos: the ticket in %s has ended; run kinit", l.o.cache)
	default:
		return err
	}
	l.client, l.tgt = c, tgt
	clear(l.services)
	life := float64(tgt.end.Sub(tgt.start).Milliseconds())
	l.renewMs = tgt.start.UnixMilli() + int64(life*(l.o.factor+l.o.jitter*l.random()))
	return nil
}

// renew logs in: by the ticket of kinit, which somebody else keeps fresh, and else by the key table.
func (l *login) renew() (*client.Client, grant, error) {
	var why error
	if l.o.cache != "" {
		c, g, err := l.fromCache()
		if err == nil && (g.good(l.clk.WallMs()) || l.o.keytab == "") {
			return c, g, nil
		}
		why = err
	}
	if l.o.keytab == "" {
		return nil, grant{}, why
	}
	c, err := l.fromKeytab()
	if err != nil {
		return nil, grant{}, err
	}
	realm := c.Credentials.Domain()
	req, err := messages.NewASReqForTGT(realm, l.krb5, c.Credentials.CName())
	if err != nil {
		return nil, grant{}, fmt.Errorf("Kerberos: %w", err)
	}
	rep, err := c.ASExchange(realm, req, 0)
	if err != nil {
		return nil, grant{}, fmt.Errorf("Kerberos: no login of %s at a KDC of %s: %w; is it reachable, and does the key table fit?", c.Credentials.CName().PrincipalNameString(), realm, err)
	}
	return c, grantOf(rep.Ticket, rep.DecryptedEncPart), nil
}

func grantOf(t messages.Ticket, p messages.EncKDCRepPart) grant {
	start := p.StartTime
	if start.IsZero() {
		start = p.AuthTime
	}
	return grant{t, p.Key, start, p.EndTime}
}

// fromCache is a client with the ticket of kinit.
func (l *login) fromCache() (c *client.Client, g grant, err error) {
	defer recoverTo(&err, "ticket cache "+l.o.cache)
	cc, err := credentials.LoadCCache(l.o.cache)
	if err != nil {
		return nil, grant{}, fmt.Errorf("Kerberos: ticket cache %s: %w; run kinit", l.o.cache, err)
	}
	realm := cc.GetClientRealm()
	if who := cc.GetClientPrincipalName().PrincipalNameString(); l.o.principal != "" && l.o.principal != who && l.o.principal != who+"@"+realm {
		return nil, grant{}, fmt.Errorf("Kerberos: ticket cache %s is %s@%s's, not %s's", l.o.cache, who, realm, l.o.principal)
	}
	entry, ok := cc.GetEntry(types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}})
	if !ok {
		return nil, grant{}, fmt.Errorf("Kerberos: ticket cache %s has no ticket of %s; run kinit", l.o.cache, realm)
	}
	if c, err = client.NewFromCCache(cc, l.krb5, client.DisablePAFXFAST(true)); err != nil {
		return nil, grant{}, fmt.Errorf("Kerberos: ticket cache %s: %w", l.o.cache, err)
	}
	g = grant{key: entry.Key, start: entry.StartTime, end: entry.EndTime}
	if g.start.Unix() <= 0 {
		g.start = entry.AuthTime
	}
	return c, g, g.ticket.Unmarshal(entry.Ticket)
}

// askKDC gets a ticket for a broker. The KDC of our realm is asked; it refers to others.
func (l *login) askKDC(principal string) (grant, error) {
	realm := l.client.Credentials.Domain()
	_, rep, err := l.client.TGSREQGenerateAndExchange(types.NewPrincipalName(nametype.KRB_NT_SRV_INST, principal), realm, l.tgt.ticket, l.tgt.key, false)
	if err != nil {
		return grant{}, fmt.Errorf("Kerberos: no ticket for %s from a KDC of %s: %w; is that the brokers' principal (%s)?", principal, realm, err, keyService)
	}
	return grantOf(rep.Ticket, rep.DecryptedEncPart), nil
}

// token is login's, on a goroutine of its own, since the library knows no contexts; Close waits for it.
func (m *Mechanism) token(ctx context.Context, principal string) ([]byte, types.EncryptionKey, error) {
	type result struct {
		message []byte
		key     types.EncryptionKey
		err     error
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, types.EncryptionKey{}, errors.New("the producer is closed")
	}
	m.working.Add(1)
	m.mu.Unlock()
	got := make(chan result, 1)
	go func() {
		defer m.working.Done()
		message, key, err := m.login.token(principal)
		got <- result{message, key, err}
	}()
	select {
	case r := <-got:
		return r.message, r.key, r.err
	case <-ctx.Done():
		return nil, types.EncryptionKey{}, fmt.Errorf("Kerberos: waiting for a KDC: %w", context.Cause(ctx))
	}
}
