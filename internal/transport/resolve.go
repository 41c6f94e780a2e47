package transport

import (
	"context"
	"net"
	"net/netip"
	"slices"

	"linger/internal/link"
)

// lookUp answers one Resolve order. Wait stops it and waits for it.
func (t *Transport) lookUp(host string) {
	defer t.wg.Done()
	addrs, err := t.names.addresses(t.ctx, host)
	t.post(link.Event{Kind: link.Resolved, Host: host, Addrs: addrs, Err: err})
}

// systemResolver asks the system.
func systemResolver(ctx context.Context, host string) ([]string, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	return ipv4First(ips), nil
}

// ipv4First keeps the resolver's order within each kind and puts IPv4 first, as a Java virtual machine with default
// settings does: the client uses only addresses of the first one's kind (in Java: ClientUtils.filterPreferredAddresses), and a
// broker on localhost often listens on 127.0.0.1 alone. Some systems list an address once per socket type: once is enough.
func ipv4First(ips []netip.Addr) []string {
	var v4, v6 []string
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() {
			v4 = append(v4, ip.String())
		} else {
			v6 = append(v6, ip.String())
		}
	}
	return slices.Compact(append(v4, v6...))
}
