package config

import (
	"regexp"
	"strconv"
	"strings"
)

// HostPort is one entry of bootstrap.servers.
type HostPort struct {
	Host string // a name or an IP address without brackets
	Port int    // 0 to 65535
}

// String is host:port, with an IPv6 address in brackets.
func (h HostPort) String() string {
	if strings.Contains(h.Host, ":") {
		return "[" + h.Host + "]:" + strconv.Itoa(h.Port)
	}
	return h.Host + ":" + strconv.Itoa(h.Port)
}

// hostPort is Java's grammar of an entry (Utils.HOST_PORT_PATTERN): a scheme may stand before and is ignored.
var hostPort = regexp.MustCompile(`^(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)\z`)

// ParseBootstrap reads entries of the form host:port or [IPv6]:port. It resolves no name: that is done when the
// producer connects. An empty host is this machine.
func ParseBootstrap(entries []string) ([]HostPort, error) {
	hosts, err := parseHosts(entries)
	if err != nil {
		return nil, err
	}
	return hosts, nil
}

func parseHosts(entries []string) ([]HostPort, *Error) {
	hosts := make([]HostPort, 0, len(entries))
	for _, e := range entries {
		m := hostPort.FindStringSubmatch(e)
		if m == nil {
			return nil, &Error{Key: bootstrapServers, Message: "Invalid url in bootstrap.servers: " + e}
		}
		port, err := strconv.Atoi(m[2])
		if err != nil || port > 65535 {
			return nil, &Error{Key: bootstrapServers, Message: "Invalid port in bootstrap.servers: " + e}
		}
		host := m[1]
		if host == "" {
			host = "localhost"
		}
		hosts = append(hosts, HostPort{host, port})
	}
	return hosts, nil
}

func (p *parser) parseBootstrap() (err *Error) {
	p.boot, err = parseHosts(p.list(bootstrapServers))
	if err != nil && p.set[bootstrapServers].hidden {
		return Invalid(bootstrapServers, Secret{}, "Not a list of host:port")
	}
	return err
}
