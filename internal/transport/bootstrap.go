package transport

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Names asks about host names while a producer is made, before there is a Transport. The zero Names asks the system.
type Names struct {
	// Resolver finds the IP addresses of a name; nil asks the system.
	Resolver ResolveFunc
	// Reverse finds the names of an IP address; nil asks the system.
	Reverse func(ctx context.Context, ip string) ([]string, error)
}

// Known reports why host does not resolve; nil when it does. An IP address needs no resolver.
func (n Names) Known(ctx context.Context, host string) error {
	_, err := n.addresses(ctx, host)
	return err
}

// Canonical returns the names of host's addresses, one for each (client.dns.lookup=resolve_canonical_bootstrap_servers_only).
// As in Java an address whose name is unknown, or whose name leads to other addresses, stands for itself
// (InetAddress.getCanonicalHostName).
func (n Names) Canonical(ctx context.Context, host string) ([]string, error) {
	ips, err := n.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(ips))
	for i, ip := range ips {
		names[i] = n.canonical(ctx, ip)
	}
	return names, nil
}

func (n Names) canonical(ctx context.Context, ip string) string {
	reverse := n.Reverse
	if reverse == nil {
		reverse = net.DefaultResolver.LookupAddr
	}
	names, err := reverse(ctx, ip)
	if err != nil || len(names) == 0 {
		return ip
	}
	name := strings.TrimSuffix(names[0], ".")
	if back, err := n.addresses(ctx, name); err != nil || !slices.Contains(back, ip) {
		return ip
	}
	return name
}

func (n Names) addresses(ctx context.Context, host string) ([]string, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []string{ip.String()}, nil
	}
	resolve := n.Resolver
	if resolve == nil {
		resolve = systemResolver
	}
	ips, err := resolve(ctx, host)
	if err == nil && len(ips) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return ips, err
}
