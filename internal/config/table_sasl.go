package config

const (
	noJavaCode  = "a Java class cannot run in Go"
	noMechanism = noJavaCode + "; hand New a login of your own with linger.WithSASLMechanism"
	noHandler   = noJavaCode + "; Kafka's own OAuthBearerLoginCallbackHandler and OAuthBearerUnsecuredLoginCallbackHandler " +
		"are known, and linger.WithOAuthToken does what another one would"
	loginCallbackHandler = "sasl.login.callback.handler.class"
)

// keysOfSASL are the keys of SASL and Kerberos.
var keysOfSASL = []Key{
	{
		Name: "sasl.kerberos.service.name", Type: String, Importance: Medium, Group: Kerberos,
		Option: "SASLKerberosServiceName",
		Doc:    "The Kerberos name of the brokers' service, the part before the slash of their principal. Read by linger/plugin/gssapi.",
	},
	{
		Name: "sasl.kerberos.kinit.cmd", Type: String, Default: "/usr/bin/kinit", Importance: Low, Group: Kerberos,
		Status: NoEffect, Note: "no program is run to renew a ticket", Option: "SASLKerberosKinitCmd",
		Doc: "Path of kinit.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.window.factor", Type: Double, Default: 0.8, Importance: Low, Group: Kerberos, Option: "SASLKerberosTicketRenewWindowFactor",
		Doc: "The part of a ticket's life after which it is renewed.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.jitter", Type: Double, Default: 0.05, Importance: Low, Group: Kerberos, Option: "SASLKerberosTicketRenewJitter",
		Doc: "Random part added to the time of renewal.",
	},
	{
		Name: "sasl.kerberos.min.time.before.relogin", Type: Long, Default: int64(60000), Importance: Low, Group: Kerberos,
		Unit: Millis, Option: "SASLKerberosMinTimeBeforeRelogin",
		Doc: "Shortest time between two renewals.",
	},
	{
		Name: "sasl.login.refresh.window.factor", Type: Double, Default: 0.8, Valid: between(0.5, 1.0), Importance: Low,
		Group: SASL, Option: "SASLLoginRefreshWindowFactor",
		Doc: "The part of a token's life after which a new one is fetched. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.refresh.window.jitter", Type: Double, Default: 0.05, Valid: between(0.0, 0.25), Importance: Low,
		Group: SASL, Option: "SASLLoginRefreshWindowJitter",
		Doc: "The largest random part of a token's life added to that. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.refresh.min.period.seconds", Type: Short, Default: int64(60), Valid: between[int64](0, 900),
		Importance: Low, Group: SASL, Unit: Seconds, Option: "SASLLoginRefreshMinPeriod",
		Doc: "Shortest time between two fetches of a token. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.refresh.buffer.seconds", Type: Short, Default: int64(300), Valid: between[int64](0, 3600),
		Importance: Low, Group: SASL, Unit: Seconds, Option: "SASLLoginRefreshBuffer",
		Doc: "How long before a token's end a new one must be there. Used by OAUTHBEARER.",
	},
	{
		Name: saslMechanism, Type: String, Default: "GSSAPI", Importance: Medium, Group: SASL,
		Option: "SASLMechanism",
		Doc: "How to log in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, or the name of a mechanism that " +
			"linger.WithSASLMechanism brings. GSSAPI (Kerberos), the default, is one of those.",
	},
	{
		Name: "sasl.jaas.config", Type: Password, Importance: Medium, Group: SASL,
		Option: "SASLJaasConfig",
		Doc: "The login in the form of a JAAS file: loginModuleClass controlFlag (optionName=optionValue)*; with one " +
			"login module.",
	},
	{
		Name: "sasl.client.callback.handler.class", Type: Class, Importance: Medium, Group: SASL,
		Status: Refused, Note: noMechanism, Option: "SASLClientCallbackHandlerClass",
		Doc: "Java class that answers a mechanism's questions.",
	},
	{
		Name: loginCallbackHandler, Type: Class, Importance: Medium, Group: SASL,
		Status: Refused, Note: noHandler, Option: "SASLLoginCallbackHandlerClass",
		Doc: "Java class that answers a login's questions: with OAUTHBEARER, where tokens come from.",
	},
	{
		Name: "sasl.login.class", Type: Class, Importance: Medium, Group: SASL,
		Status: Refused, Note: noMechanism, Option: "SASLLoginClass",
		Doc: "Java class that logs in.",
	},
	{
		Name: "sasl.login.connect.timeout.ms", Type: Int, Importance: Low, Group: SASL,
		Unit: Millis, Option: "SASLLoginConnectTimeout",
		Doc: "How long a connection to the identity provider may take to stand. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.read.timeout.ms", Type: Int, Importance: Low, Group: SASL,
		Unit: Millis, Option: "SASLLoginReadTimeout",
		Doc: "How long the identity provider may take to answer. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.retry.backoff.max.ms", Type: Long, Default: int64(10000), Importance: Low, Group: SASL,
		Unit: Millis, Option: "SASLLoginRetryBackoffMax",
		Doc: "Longest wait between two tries at the identity provider. Used by OAUTHBEARER.",
	},
	{
		Name: "sasl.login.retry.backoff.ms", Type: Long, Default: int64(100), Importance: Low, Group: SASL,
		Unit: Millis, Option: "SASLLoginRetryBackoff",
		Doc: "First wait between two tries at the identity provider; it doubles. Used by OAUTHBEARER.",
	},
}
