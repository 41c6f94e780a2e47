package sasl

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Brokers make a password's hash from at least minIterations rounds (ScramMechanism.minIterations in Java), and we do no more
// than maxIterations for a peer that has not proved yet that it knows the password: a second of work, where Kafka's own
// limit is 16,384.
const (
	minIterations = 4096
	maxIterations = 1_000_000
)

// Scram is the mechanism SCRAM-SHA-256 or SCRAM-SHA-512 (RFC 5802, RFC 7677) with the user and the password of a
// ScramLoginModule. With the option tokenauth=true they are a delegation token's id and its HMAC (KIP-48), which is said in
// the first message by an extension: that is why the client's half is our own, as no library at hand sends one. Like Java
// it takes the password as it is, without SASLprep. random gives the nonces; nil is the system's.
func Scram(name string, l Login, random io.Reader) (Mechanism, error) {
	user, password, err := l.userAndPassword(name, ScramModule)
	if err != nil {
		return nil, err
	}
	m := &scramMechanism{name: name, user: user, password: password, random: random, hash: sha256.New}
	if name == ScramSHA512Name {
		m.hash = sha512.New
	}
	if strings.EqualFold(l.Options["tokenauth"], "true") {
		m.extensions = ",tokenauth=true"
	}
	if random == nil {
		m.random = rand.Reader
	}
	return m, nil
}

type scramMechanism struct {
	name, user, password, extensions string
	hash                             func() hash.Hash
	random                           io.Reader

	mu   sync.Mutex
	last saltedPassword // the newest: re-authentication and other brokers ask for the same one
}

// saltedPassword is the slow part of an exchange.
type saltedPassword struct {
	salt       []byte
	iterations int
	key        []byte
}

func (m *scramMechanism) Name() string { return m.name }

func (m *scramMechanism) Session(string) (Session, error) {
	return &scramSession{m: m}, nil
}

// Format keeps the password out of every format.
func (m *scramMechanism) Format(s fmt.State, _ rune) { only(s, m.name) }

// salted hashes the password, unless it was just hashed with the same salt.
func (m *scramMechanism) salted(salt []byte, iterations int) ([]byte, error) {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if last.iterations == iterations && bytes.Equal(last.salt, salt) {
		return last.key, nil
	}
	key, err := pbkdf2.Key(m.hash, m.password, salt, iterations, m.hash().Size())
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.last = saltedPassword{bytes.Clone(salt), iterations, key}
	m.mu.Unlock()
	return key, nil
}

func (m *scramMechanism) sign(key []byte, text string) []byte {
	h := hmac.New(m.hash, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// scramSession is one exchange:
//
//	client  n,,n=user,r=nonce            server  r=nonce+more,s=salt,i=rounds
//	client  c=biws,r=nonce+more,p=proof  server  v=signature, or e=error
type scramSession struct {
	m         *scramMechanism
	turn      int
	first     string // the client's first message without its header
	nonce     string
	signature []byte // what the server must prove
	complete  bool
}

const (
	gs2Header       = "n,,"
	gs2HeaderBase64 = "biws"
	nonceBytes      = 24
)

func (s *scramSession) Next(_ context.Context, challenge []byte) (response []byte, err error) {
	s.turn++
	switch s.turn {
	case 1:
		response, err = s.begin()
	case 2:
		response, err = s.prove(string(challenge))
	case 3:
		err = s.verify(string(challenge))
	default:
		err = errors.New("the exchange is over")
	}
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", s.m.name, err)
	}
	return response, nil
}

func (s *scramSession) Complete() bool { return s.complete }

// Format keeps the exchange out of every format.
func (s *scramSession) Format(f fmt.State, _ rune) { only(f, s.m.name) }

func (s *scramSession) begin() ([]byte, error) {
	var raw [nonceBytes]byte
	if _, err := io.ReadFull(s.m.random, raw[:]); err != nil {
		return nil, err
	}
	s.nonce = base64.RawURLEncoding.EncodeToString(raw[:]) // any printable characters but the comma
	user := strings.NewReplacer("=", "=3D", ",", "=2C").Replace(s.m.user)
	s.first = "n=" + user + ",r=" + s.nonce + s.m.extensions
	return []byte(gs2Header + s.first), nil
}

// prove answers the server's first message.
func (s *scramSession) prove(challenge string) ([]byte, error) {
	nonce, salt, iterations, err := s.serverFirst(challenge)
	if err != nil {
		return nil, err
	}
	salted, err := s.m.salted(salt, iterations)
	if err != nil {
		return nil, err
	}
	final := "c=" + gs2HeaderBase64 + ",r=" + nonce
	exchange := s.first + "," + challenge + "," + final
	clientKey := s.m.sign(salted, "Client Key")
	stored := s.m.hash()
	stored.Write(clientKey)
	proof := s.m.sign(stored.Sum(nil), exchange)
	subtle.XORBytes(proof, proof, clientKey)
	s.signature = s.m.sign(s.m.sign(salted, "Server Key"), exchange)
	return []byte(final + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

func (s *scramSession) serverFirst(challenge string) (nonce string, salt []byte, iterations int, err error) {
	if text, failed := strings.CutPrefix(challenge, "e="); failed {
		return "", nil, 0, fmt.Errorf("the broker refuses: %s", printable(text))
	}
	fields := strings.Split(challenge, ",")
	if len(fields) < 3 || !strings.HasPrefix(fields[0], "r=") || !strings.HasPrefix(fields[1], "s=") || !strings.HasPrefix(fields[2], "i=") {
		return "", nil, 0, errors.New("the broker's first message can't be read")
	}
	nonce = fields[0][2:]
	if !strings.HasPrefix(nonce, s.nonce) || len(nonce) == len(s.nonce) {
		return "", nil, 0, errors.New("the broker's nonce does not continue ours")
	}
	if salt, err = base64.StdEncoding.DecodeString(fields[1][2:]); err != nil || len(salt) == 0 {
		return "", nil, 0, errors.New("the broker's salt can't be read")
	}
	iterations, err = strconv.Atoi(fields[2][2:])
	switch {
	case err != nil:
		return "", nil, 0, errors.New("the broker's number of iterations can't be read")
	case iterations < minIterations:
		return "", nil, 0, fmt.Errorf("Iterations %d is less than the minimum %d", iterations, minIterations)
	case iterations > maxIterations:
		return "", nil, 0, fmt.Errorf("iterations %d is more than the maximum %d", iterations, maxIterations)
	}
	return nonce, salt, iterations, nil
}

// verify makes sure that the server knows the password too.
func (s *scramSession) verify(challenge string) error {
	if text, failed := strings.CutPrefix(challenge, "e="); failed {
		return fmt.Errorf("the broker refuses: %s", printable(text))
	}
	verifier, _, _ := strings.Cut(challenge, ",")
	encoded, ok := strings.CutPrefix(verifier, "v=")
	signature, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return errors.New("the broker's last message can't be read")
	}
	if !hmac.Equal(signature, s.signature) {
		return errors.New("the broker can't prove that it knows the password")
	}
	s.complete = true
	return nil
}

// printable is a peer's text, fit for a log.
func printable(text string) string {
	const limit = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…" // the cut may be inside a character
	}
	return text
}
