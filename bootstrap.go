package linger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"linger/internal/client"
	"linger/internal/config"
	"linger/internal/kerr"
	"linger/internal/metadata"
	"linger/internal/transport"
)

const canonicalLookup = "resolve_canonical_bootstrap_servers_only"

// bootstrapServers are the servers to begin with. With bootstrap.resolve.timeout.ms = 0 they are those whose names resolve
// now, and it is an error when none does; with more the sender resolves all of them later (KIP-909).
func bootstrapServers(v *config.Values, names transport.Names, log *slog.Logger) ([]client.HostPort, error) {
	later := v.BootstrapResolveTimeoutMs > 0
	canonical := v.DNSLookup == canonicalLookup
	if later && canonical {
		return nil, fmt.Errorf("%w: client.dns.lookup=%s is not supported together with bootstrap.resolve.timeout.ms=%d by this version; set one of the two to its default",
			kerr.ErrConfig, canonicalLookup, v.BootstrapResolveTimeoutMs)
	}
	var servers []client.HostPort
	var failed []error
	for _, hp := range v.Bootstrap {
		server := client.HostPort{Host: hp.Host, Port: int32(hp.Port)}
		if later {
			servers = append(servers, server)
			continue
		}
		found, err := namesOf(server, names, canonical)
		if err != nil {
			log.Warn(fmt.Sprintf("Couldn't resolve server %s from bootstrap.servers as DNS resolution failed for %s", hp, hp.Host), "err", err)
			failed = append(failed, err)
		}
		servers = append(servers, found...)
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("%w: No resolvable bootstrap urls given in bootstrap.servers %v; correct the names, or set bootstrap.resolve.timeout.ms to wait for them: %w",
			kerr.ErrConfig, v.Bootstrap, errors.Join(failed...))
	}
	return servers, nil
}

// asItIs is the name service of a producer with a dialer of its own: it leaves names to the dialer.
func asItIs(_ context.Context, host string) ([]string, error) { return []string{host}, nil }

// namesOf is the server when its name resolves, or the server under the names of its addresses.
func namesOf(s client.HostPort, names transport.Names, canonical bool) ([]client.HostPort, error) {
	ctx := context.Background() // New has no limit of its own: the resolver's is the limit, as in Java
	if !canonical {
		if err := names.Known(ctx, s.Host); err != nil {
			return nil, err
		}
		return []client.HostPort{s}, nil
	}
	hosts, err := names.Canonical(ctx, s.Host)
	servers := make([]client.HostPort, len(hosts))
	for i, host := range hosts {
		servers[i] = client.HostPort{Host: host, Port: s.Port}
	}
	return servers, err
}

func addresses(servers []client.HostPort) []metadata.Address {
	list := make([]metadata.Address, len(servers))
	for i, s := range servers {
		list[i] = metadata.Address(s)
	}
	return list
}
