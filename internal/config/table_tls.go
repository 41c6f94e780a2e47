package config

const providerOwn = "Go's crypto/tls is the only provider"

// keysOfTLS are security.protocol and the keys of TLS.
var keysOfTLS = []Key{
	{
		Name: securityProtocol, Type: String, Default: "PLAINTEXT", Importance: Medium, Group: Security,
		Valid:  foldWords("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
		Option: "SecurityProtocol",
		Doc:    "How brokers are talked to: PLAINTEXT, SSL (encrypted), SASL_PLAINTEXT (with a login) or SASL_SSL (both).",
	},
	{
		Name: "security.providers", Type: String, Importance: Low, Group: Security,
		Status: NoEffect, Note: "Go has no security providers to load", Option: "SecurityProviders",
		Doc: "Java classes that add security algorithms to the virtual machine.",
	},
	{
		Name: "ssl.protocol", Type: String, Default: "TLSv1.3", Importance: Medium, Group: TLS,
		Option: "SSLProtocol",
		Doc:    "The TLS version to begin with, such as TLSv1.3.",
	},
	{
		Name: "ssl.provider", Type: String, Importance: Medium, Group: TLS,
		Status: NoEffect, Note: providerOwn, Option: "SSLProvider",
		Doc: "Java's name for the implementation of TLS.",
	},
	{
		Name: "ssl.cipher.suites", Type: List, Default: []string{}, Valid: anyList{orNone: true}, Importance: Low, Group: TLS,
		Option: "SSLCipherSuites",
		Doc:    "The cipher suites that may be used, by their standard names. Empty: all that are considered safe.",
	},
	{
		Name: "ssl.enabled.protocols", Type: List, Default: []string{"TLSv1.2", "TLSv1.3"}, Valid: anyList{orNone: true},
		Importance: Medium, Group: TLS, Option: "SSLEnabledProtocols",
		Doc: "The TLS versions that may be used.",
	},
	{
		Name: "ssl.keystore.type", Type: String, Default: "JKS", Importance: Medium, Group: TLS,
		Option: "SSLKeystoreType",
		Doc:    "Format of the key store: JKS, PKCS12 or PEM.",
	},
	{
		Name: "ssl.keystore.location", Type: String, Importance: High, Group: TLS,
		Option: "SSLKeystoreLocation",
		Doc:    "File with this client's certificate and private key, for brokers that ask for one.",
	},
	{
		Name: "ssl.keystore.password", Type: Password, Importance: High, Group: TLS,
		Option: "SSLKeystorePassword",
		Doc:    "Password of the key store. PEM files have none.",
	},
	{
		Name: "ssl.key.password", Type: Password, Importance: High, Group: TLS,
		Option: "SSLKeyPassword",
		Doc:    "Password of the private key in the key store or in ssl.keystore.key.",
	},
	{
		Name: "ssl.keystore.key", Type: Password, Importance: High, Group: TLS,
		Option: "SSLKeystoreKey",
		Doc:    "This client's private key itself, as PEM (PKCS #8), instead of a file.",
	},
	{
		Name: "ssl.keystore.certificate.chain", Type: Password, Importance: High, Group: TLS,
		Option: "SSLKeystoreCertificateChain",
		Doc:    "This client's certificate chain itself, as PEM, instead of a file.",
	},
	{
		Name: "ssl.truststore.certificates", Type: Password, Importance: High, Group: TLS,
		Option: "SSLTruststoreCertificates",
		Doc:    "The trusted certificates themselves, as PEM, instead of a file.",
	},
	{
		Name: "ssl.truststore.type", Type: String, Default: "JKS", Importance: Medium, Group: TLS,
		Option: "SSLTruststoreType",
		Doc:    "Format of the trust store: JKS, PKCS12 or PEM.",
	},
	{
		Name: "ssl.truststore.location", Type: String, Importance: High, Group: TLS,
		Option: "SSLTruststoreLocation",
		Doc:    "File with the certificates that brokers are checked against. Without it the system's own are used.",
	},
	{
		Name: "ssl.truststore.password", Type: Password, Importance: High, Group: TLS,
		Option: "SSLTruststorePassword",
		Doc:    "Password of the trust store. Without it the store is read but not checked for changes.",
	},
	{
		Name: "ssl.keymanager.algorithm", Type: String, Default: "SunX509", Importance: Low, Group: TLS,
		Status: NoEffect, Note: providerOwn, Option: "SSLKeymanagerAlgorithm",
		Doc: "Java's algorithm for choosing a key.",
	},
	{
		Name: "ssl.trustmanager.algorithm", Type: String, Default: "PKIX", Importance: Low, Group: TLS,
		Status: NoEffect, Note: providerOwn, Option: "SSLTrustmanagerAlgorithm",
		Doc: "Java's algorithm for checking certificates.",
	},
	{
		Name: "ssl.endpoint.identification.algorithm", Type: String, Default: "https", Importance: Low, Group: TLS,
		Option: "SSLEndpointIdentificationAlgorithm",
		Doc: "https checks that a broker's certificate is for the name that was dialled. The empty string leaves that " +
			"check out, which lets anyone with a trusted certificate pose as the broker.",
	},
	{
		Name: "ssl.secure.random.implementation", Type: String, Importance: Low, Group: TLS,
		Status: NoEffect, Note: "Go's crypto/rand is the only source", Option: "SSLSecureRandomImplementation",
		Doc: "Java's name for the source of random numbers.",
	},
	{
		Name: "ssl.engine.factory.class", Type: Class, Importance: Low, Group: TLS,
		Status: Refused, Note: "a Java class cannot run in Go; hand a *tls.Config to linger.WithTLSConfig", Option: "SSLEngineFactoryClass",
		Doc: "Java class that makes TLS engines.",
	},
}
