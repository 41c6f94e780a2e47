// Package tlsconf turns the ssl.* options into a crypto/tls configuration and keeps it true to the files it was made from.
//
// # The plain version
//
//	config := &tls.Config{RootCAs: read(truststore), Certificates: read(keystore), MinVersion: …}
//
// # The real one
//
//   - Stores are PEM files, PEM inside the options, JKS and PKCS12, their keys encrypted or not. As in Java a store of type
//     JKS may be a PKCS12 file and the other way round: the file's first bytes decide. Names of protocols and cipher suites
//     are Java's.
//   - What Java finds wrong when a producer is made is found then, in Java's words, with the option and a remedy added.
//   - A Source is asked for the configuration of each dial. It looks at the files first: one that has changed is read again.
//     What can't be read leaves the old configuration in force and is logged once per change, so that a half-written file
//     harms nobody. No goroutine watches; a connection that stands is not touched.
//   - The peer's certificates are checked here, not by crypto/tls, for two reasons: the chain must be checked even when the
//     host name is not (ssl.endpoint.identification.algorithm empty), and a certificate without alternative names is for
//     its common name, as in Java. Both checks are crypto/x509's own.
//
// The room owns no connection and decides nothing about one: internal/transport shakes hands and says what a failure means.
// No password and no byte of a private key gets into an error or a log line.
package tlsconf
