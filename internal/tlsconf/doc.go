// Package tlsconf turns the ssl.* options into a crypto/tls configuration and keeps it true to the files it was made from.
//
// # The plain version
//
//	config := &tls.Config{RootCAs: read(truststore), Certificates: read(keystore), MinVersion: …}
//
// # The real one
//
// Stores are PEM files, inline PEM, JKS and PKCS12, their keys encrypted or not. Names of protocols and cipher suites are
// Java's. A Source is asked for the configuration at each dial: when a store's file has changed since, it is read again, and what can't be
// read leaves the old configuration in force and is logged, so that a half-written file harms nobody.
package tlsconf
