// Package tlstest makes certificates for tests: authorities, what they sign, and the PEM of both. Tests of any package may use
// it; no other code does. It owns no file and listens nowhere.
package tlstest
