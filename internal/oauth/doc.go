// Package oauth gets the tokens of the OAUTHBEARER mechanism (KIP-768, KIP-1139, KIP-1258): from a file, from an endpoint by
// client credentials or by an assertion, or from the application. It checks their claims as Java's client does, keeps a
// token as long as it is fresh, and fetches the next one ahead of time.
//
// # The plain version
//
//	answer := post(endpoint, "grant_type=client_credentials", id, secret)
//	token := check(answer.access_token)
//
// # The real one
//
//	new.go        which of the ways the options mean
//	source.go     the token at hand, one fetch at a time, a goroutine that replaces it; refresh.go says when
//	post.go       asking the endpoint: time-outs, limits, what it says; retry.go asks again
//	grants.go     what it is asked: by a secret or an assertion; assertion.go and key.go make and sign those
//	endpoint.go   URLs and files that options name, and what they may name; watched.go reads files when they change
//	jwt.go        what a client can check of a token; unsecured.go makes tokens nobody signed
//
// It owns the goroutine of each Source, and refuses three things: to show a secret in an error or a log, to check
// signatures, which is the brokers' business, and to know SASL, which is internal/sasl's.
package oauth
