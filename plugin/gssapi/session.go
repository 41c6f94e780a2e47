package gssapi

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"
)

// tickets makes the first message to a broker's principal.
type tickets interface {
	token(ctx context.Context, principal string) (message []byte, key types.EncryptionKey, err error)
}

// session is the client's half of RFC 4752, section 3.1:
//
//	client                                   broker
//	  AP-REQ (the ticket)                →
//	                                     ←   [an empty message]
//	  [an empty message]                 →
//	                                     ←   which layers it has, with a checksum that only who read the ticket can make
//	  no layer, with a checksum          →
//	                                     ←   (success)
type session struct {
	principal string
	tickets   tickets

	state state
	key   types.EncryptionKey
}

type state uint8

const (
	begun   state = iota
	asked         // the ticket is on its way
	settled       // the layer is on its way: all is said
)

// noLayer is the only layer that is agreed on: TLS protects what needs protection.
const noLayer = 0x01

func (s *session) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	switch {
	case s.state == begun:
		message, key, err := s.tickets.token(ctx, s.principal)
		if err != nil {
			return nil, fmt.Errorf("mechanism GSSAPI: %w", err)
		}
		s.key, s.state = key, asked
		return message, nil
	case s.state == asked && len(challenge) == 0:
		return []byte{}, nil // the context stands; the broker waits for its turn to speak of layers
	case s.state == asked:
		answer, err := s.settle(challenge)
		if err != nil {
			return nil, fmt.Errorf("mechanism GSSAPI: %w", err)
		}
		s.state = settled
		return answer, nil
	}
	return nil, errors.New("mechanism GSSAPI: the broker asks for more after all was said")
}

// Complete is true once the answer about layers was made: before that the broker's checksum was found right.
func (s *session) Complete() bool { return s.state == settled }

// settle checks the broker's offer and answers it.
func (s *session) settle(challenge []byte) ([]byte, error) {
	var offer gssapi.WrapToken
	if err := offer.Unmarshal(challenge, true); err != nil {
		return nil, fmt.Errorf("the broker's answer to the ticket is no offer of layers: %w", err)
	}
	// Its own error would show both checksums.
	if ok, err := offer.Verify(s.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok || err != nil {
		return nil, fmt.Errorf("the checksum of the broker's answer is wrong: it is not %s", s.principal)
	}
	if len(offer.Payload) != 4 {
		return nil, fmt.Errorf("the broker's offer of layers has %d bytes, and not 4", len(offer.Payload))
	}
	if offer.Payload[0]&noLayer == 0 {
		return nil, fmt.Errorf("the broker insists on a security layer (offer %s), and there is none here but TLS", hex.EncodeToString(offer.Payload[:1]))
	}
	// No layer, so no size of one; no other name to act under (in Java: GssKrb5Client.doFinalHandshake).
	answer, err := gssapi.NewInitiatorWrapToken([]byte{noLayer, 0, 0, 0}, s.key)
	if err != nil {
		return nil, err
	}
	return answer.Marshal()
}
