// Package security shows with a real broker that a Java client's properties file lets a producer in, that who is not let in
// hears so at once and why, and that records survive logins that are renewed and certificates that are replaced.
package security
