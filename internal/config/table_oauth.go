package config

import "strings"

const (
	brokersToken = "a producer fetches tokens, it does not check them"
	classOfOAuth = "org.apache.kafka.common.security.oauthbearer."
)

// keysOfOAuth are the keys of SASL's OAUTHBEARER. Those about checking a token are for brokers; Java gives them to
// every client.
var keysOfOAuth = []Key{
	{
		Name: "sasl.oauthbearer.jwt.retriever.class", Type: Class, Default: classOfOAuth + "DefaultJwtRetriever",
		Importance: Medium, Group: OAuthBearer, Option: "SASLOAuthBearerJWTRetrieverClass",
		Doc: "How tokens are fetched: DefaultJwtRetriever (a file or client credentials, as the scheme of the endpoint's URL " +
			"says), FileJwtRetriever, ClientCredentialsJwtRetriever or JwtBearerJwtRetriever. linger.WithOAuthToken stands for " +
			"any other.",
	},
	{
		Name: "sasl.oauthbearer.jwt.validator.class", Type: Class, Default: classOfOAuth + "DefaultJwtValidator",
		Importance: Medium, Group: OAuthBearer, Option: "SASLOAuthBearerJWTValidatorClass",
		Doc: "How a fetched token is looked over: DefaultJwtValidator or ClientJwtValidator, which are the same in a producer.",
	},
	{
		Name: "sasl.oauthbearer.scope", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerScope",
		Doc:    "The scope to ask for, sent to the identity provider.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.id", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerClientCredentialsClientID",
		Doc:    "This client's name at the identity provider, for the client_credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.secret", Type: Password, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerClientCredentialsClientSecret",
		Doc:    "This client's secret at the identity provider, for the client_credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.assertion.algorithm", Type: String, Default: "RS256", Valid: foldWords("ES256", "RS256"),
		Importance: Medium, Group: OAuthBearer, Option: "SASLOAuthBearerAssertionAlgorithm",
		Doc: "How an assertion is signed: that of the jwt-bearer grant, or the client's own (KIP-1258).",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.aud", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionClaimAud",
		Doc:    "Claim aud (audience) of the assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.exp.seconds", Type: Int, Default: int64(300), Valid: between[int64](0, 86400),
		Importance: Low, Group: OAuthBearer, Unit: Seconds,
		Option: "SASLOAuthBearerAssertionClaimExp",
		Doc:    "How long after now the assertion ends (claim exp).",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.iss", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionClaimIss",
		Doc:    "Claim iss (issuer) of the assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.jti.include", Type: Boolean, Default: false, Importance: Medium,
		Group: OAuthBearer, Option: "SASLOAuthBearerAssertionClaimJTIInclude",
		Doc: "Whether each assertion carries a unique number (claim jti).",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.nbf.seconds", Type: Int, Default: int64(60), Valid: between[int64](0, 3600),
		Importance: Low, Group: OAuthBearer, Unit: Seconds,
		Option: "SASLOAuthBearerAssertionClaimNbf",
		Doc:    "How long before now the assertion begins (claim nbf).",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.sub", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionClaimSub",
		Doc:    "Claim sub (subject) of the assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.file", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionFile",
		Doc:    "File with an assertion that is ready made; the other keys of the assertion are then not used.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.file", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionPrivateKeyFile",
		Doc:    "File with the private key that signs assertions, as PEM.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.passphrase", Type: Password, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionPrivateKeyPassphrase",
		Doc:    "Password of that private key.",
	},
	{
		Name: "sasl.oauthbearer.assertion.template.file", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerAssertionTemplateFile",
		Doc:    "File with the fixed parts of the assertion's header and payload, as JSON.",
	},
	{
		Name: "sasl.oauthbearer.scope.claim.name", Type: String, Default: "scope", Importance: Low, Group: OAuthBearer,
		Option: "SASLOAuthBearerScopeClaimName",
		Doc:    "The claim of a token that holds its scope.",
	},
	{
		Name: "sasl.oauthbearer.sub.claim.name", Type: String, Default: "sub", Importance: Low, Group: OAuthBearer,
		Option: "SASLOAuthBearerSubClaimName",
		Doc:    "The claim of a token that holds its subject.",
	},
	{
		Name: "sasl.oauthbearer.token.endpoint.url", Type: String, Importance: Medium, Group: OAuthBearer,
		Option: "SASLOAuthBearerTokenEndpointURL",
		Doc:    "Where the identity provider gives out tokens, or a file with one (file:///…).",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.url", Type: String, Importance: Medium, Group: OAuthBearer,
		Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerJWKSEndpointURL",
		Doc: "Where the keys are that tokens are checked with.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.refresh.ms", Type: Long, Default: int64(3600000), Importance: Low,
		Group: OAuthBearer, Unit: Millis, Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerJWKSEndpointRefresh",
		Doc: "How often those keys are fetched anew.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Type: Long, Default: int64(10000), Importance: Low,
		Group: OAuthBearer, Unit: Millis, Status: NoEffect, Note: brokersToken,
		Option: "SASLOAuthBearerJWKSEndpointRetryBackoffMax",
		Doc:    "Longest wait between two tries to fetch those keys.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Type: Long, Default: int64(100), Importance: Low,
		Group: OAuthBearer, Unit: Millis, Status: NoEffect, Note: brokersToken,
		Option: "SASLOAuthBearerJWKSEndpointRetryBackoff",
		Doc:    "First wait between two tries to fetch those keys.",
	},
	{
		Name: "sasl.oauthbearer.clock.skew.seconds", Type: Int, Default: int64(30), Importance: Low, Group: OAuthBearer,
		Unit: Seconds, Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerClockSkew",
		Doc: "By how much clocks may differ when a token's times are checked.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.audience", Type: Boolean, Default: false, Importance: Medium,
		Group: OAuthBearer, Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerAllowUnverifiedAudience",
		Doc: "Whether a token is accepted without a check of its audience.",
	},
	{
		Name: "sasl.oauthbearer.expected.audience", Type: List, Default: []string{}, Valid: anyList{orNone: true},
		Importance: High, Group: OAuthBearer, Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerExpectedAudience",
		Doc: "Audiences of which a token must name one.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.issuer", Type: Boolean, Default: false, Importance: Medium,
		Group: OAuthBearer, Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerAllowUnverifiedIssuer",
		Doc: "Whether a token is accepted without a check of its issuer.",
	},
	{
		Name: "sasl.oauthbearer.expected.issuer", Type: String, Importance: High, Group: OAuthBearer,
		Status: NoEffect, Note: brokersToken, Option: "SASLOAuthBearerExpectedIssuer",
		Doc: "The issuer a token must name.",
	},
	{
		Name: "sasl.oauthbearer.header.urlencode", Type: Boolean, Default: false, Importance: Low, Group: OAuthBearer,
		Option: "SASLOAuthBearerHeaderURLEncode",
		Doc:    "Whether the client's name and secret are URL-encoded in the authorization header, as RFC 6749 says.",
	},
}

// classesOfOAuth are the Java classes that linger stands in for, by the keys that name them. They are known by their
// names with and without package.
var classesOfOAuth = map[string][]string{
	"sasl.oauthbearer.jwt.retriever.class": {
		classOfOAuth + "DefaultJwtRetriever", classOfOAuth + "FileJwtRetriever",
		classOfOAuth + "ClientCredentialsJwtRetriever", classOfOAuth + "JwtBearerJwtRetriever",
	},
	"sasl.oauthbearer.jwt.validator.class": {
		classOfOAuth + "DefaultJwtValidator", classOfOAuth + "ClientJwtValidator", classOfOAuth + "BrokerJwtValidator",
	},
	loginCallbackHandler: {
		classOfOAuth + "OAuthBearerLoginCallbackHandler",
		classOfOAuth + "internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
	},
}

// JavaClass is the short name of the Java class that the key's value names, when linger stands in for it.
func JavaClass(key string, value any) (short string, ok bool) {
	name, ok := value.(string)
	if !ok {
		return "", false
	}
	for _, full := range classesOfOAuth[key] {
		short = full[strings.LastIndexByte(full, '.')+1:]
		if name == full || name == short {
			return short, true
		}
	}
	return "", false
}
