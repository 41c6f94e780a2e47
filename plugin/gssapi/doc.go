// Package gssapi is the SASL mechanism GSSAPI, which is Kerberos, for linger. It is a module of its own, so that programs without
// Kerberos don't carry it.
//
//	p, err := linger.New(linger.String, linger.String,
//		linger.PropertiesFile("client.properties"),       // a Java client's, with com.sun.security.auth.module.Krb5LoginModule
//		linger.WithSASLMechanism(&gssapi.Mechanism{}))
//
// # The plain version
//
//	ticket := kdc.TicketFor("kafka/" + host)          // with a key table, or the ticket of kinit
//	broker.Prove(ticket); broker.Agree("no layer")    // RFC 4752
//
// # The real one
//
//	mechanism.go  the options of a Java client, and what is refused of them
//	login.go      who we are: the ticket that gets tickets, renewed at the first use after its time
//	session.go    the exchange with a broker
//
// It owns no goroutine that outlives Close, and refuses security layers: what protects the connection is TLS.
package gssapi
