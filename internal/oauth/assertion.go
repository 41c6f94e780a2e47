package oauth

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"linger/internal/clock"
)

// assertion gives assertions: what the file of ready-made ones says, or new ones, each signed here.
func (s settings) assertion(o Options) (func() (string, error), error) {
	if s.text(keyAssertion) != "" {
		path, err := s.file(keyAssertion, "", o.Environment)
		if err != nil {
			return nil, err
		}
		return from(keyAssertion, &watched[string]{path: path, read: readableToken})
	}
	a := assertions{clk: o.Clock, fixed: claims{}}
	var err error
	if a.algorithm, err = s.needed(keyAlgorithm, ""); err != nil {
		return nil, err
	}
	path, err := s.file(keyPrivateKey, "set it, or "+keyAssertion, o.Environment)
	if err != nil {
		return nil, err
	}
	passphrase := s.text(keyPassphrase)
	if s.given(keyPassphrase) && passphrase == "" {
		return nil, required(keyPassphrase, "leave it out when the key is not encrypted")
	}
	if a.key, err = from(keyPrivateKey, &watched[signer]{path: path, read: func(text []byte) (signer, error) {
		return readKey(text, a.algorithm, passphrase)
	}}); err != nil {
		return nil, err
	}
	for claim, key := range map[string]string{"aud": keyAud, "iss": keyIss, "sub": keySub} {
		if !s.given(key) {
			continue
		}
		if a.fixed[claim], err = s.needed(key, ""); err != nil {
			return nil, err
		}
	}
	a.template = func() (template, error) { return template{}, nil }
	if s.given(keyTemplate) {
		path, err := s.file(keyTemplate, "", o.Environment)
		if err != nil {
			return nil, err
		}
		if a.template, err = from(keyTemplate, &watched[template]{path: path, read: readTemplate}); err != nil {
			return nil, err
		}
	}
	a.expSeconds, _ = s.number(keyExp)
	a.nbfSeconds, _ = s.number(keyNbf)
	a.jti = s.boolean(keyJTI)
	return a.make, nil
}

// from makes errors of a file name the option. The file is read once at once, so that a bad one is found while the producer
// is made.
func from[T any](key string, w *watched[T]) (func() (T, error), error) {
	if _, err := w.get(); err != nil {
		return nil, refuse(key, "The OAuth configuration option "+key+" can't be used: "+err.Error(), "")
	}
	return func() (T, error) {
		v, err := w.get()
		if err != nil {
			return v, &Error{Option: key, Err: err}
		}
		return v, nil
	}, nil
}

// assertions makes assertions (KIP-1139): tokens by which a client says who it is, signed with its own key.
type assertions struct {
	algorithm  string
	key        func() (signer, error)
	fixed      claims                   // from the options
	template   func() (template, error) // wins over fixed
	expSeconds int64
	nbfSeconds int64
	jti        bool
	clk        clock.Clock
}

// template is what a file says about header and payload.
type template struct {
	Header  claims `json:"header"`
	Payload claims `json:"payload"`
}

func readTemplate(text []byte) (template, error) {
	var t template
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&t); err != nil {
		return template{}, errors.New(`not a JSON object with the members "header" and "payload"`)
	}
	return t, nil
}

// make puts the layers on one another, each winning over those before: the options, the template, and what changes with each
// assertion.
func (a assertions) make() (string, error) {
	t, err := a.template()
	if err != nil {
		return "", err
	}
	key, err := a.key()
	if err != nil {
		return "", err
	}
	header, payload := claims{}, maps.Clone(a.fixed)
	maps.Copy(header, t.Header)
	maps.Copy(payload, t.Payload)
	now := a.clk.WallMs() / 1000
	header["alg"], header["typ"] = a.algorithm, "JWT"
	payload["iat"], payload["exp"], payload["nbf"] = now, now+a.expSeconds, now-a.nbfSeconds
	if a.jti {
		payload["jti"] = uuid()
	}
	var text []byte
	for i, part := range []claims{header, payload} {
		j, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("OAUTHBEARER: assertion: %w", err)
		}
		if i > 0 {
			text = append(text, '.')
		}
		text = base64.RawURLEncoding.AppendEncode(text, j)
	}
	signature, err := key(text)
	if err != nil {
		return "", &Error{Option: keyPrivateKey, Err: err}
	}
	return string(base64.RawURLEncoding.AppendEncode(append(text, '.'), signature)), nil
}

// uuid is a random UUID (version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
