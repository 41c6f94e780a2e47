// Package oauth gets the tokens of the OAUTHBEARER mechanism (KIP-768, KIP-1139, KIP-1258): from a file, from an endpoint by client
// credentials or by an assertion, or from the application. It checks their claims as Java's client does, keeps a token as long as it is fresh,
// and fetches the next one ahead of time.
package oauth
