// Package sasl has the client's half of the SASL mechanisms: what to answer to a broker's challenge. It knows no protocol
// message, no connection and no clock; how answers travel is internal/client's business.
//
// # The plain version
//
//	session := mechanism.Session(host)
//	for challenge := nil; !session.Complete(); challenge = ask(broker, response) {
//		response = session.Next(challenge)
//	}
//
// # The real one
//
// A Mechanism is made once per producer, from the options. It makes a Session per exchange: one when a connection is made and
// one each time the broker's session runs out (KIP-368). A session runs on a goroutine of internal/transport, since some of
// them take time: SCRAM hashes a password some thousand times, OAUTHBEARER may have to fetch a token.
//
// Errors name the mechanism and the cause, never a secret.
package sasl
