package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CFG-02
func TestParseBootstrap(t *testing.T) {
	tests := map[string]struct {
		entry string
		want  HostPort
		err   string
	}{
		"a name":                      {"kafka-1.example:9092", HostPort{"kafka-1.example", 9092}, ""},
		"an address":                  {"127.0.0.1:9092", HostPort{"127.0.0.1", 9092}, ""},
		"an IPv6 address in brackets": {"[::1]:9092", HostPort{"::1", 9092}, ""},
		"a zone":                      {"[fe80::1%eth0]:9092", HostPort{"fe80::1%eth0", 9092}, ""},
		"a scheme, ignored":           {"SSL://host:9092", HostPort{"host", 9092}, ""},
		"the largest port":            {"h:65535", HostPort{"h", 65535}, ""},
		"no host is this machine":     {":9092", HostPort{"localhost", 9092}, ""},
		"no port":                     {"host", HostPort{}, "Invalid url in bootstrap.servers: host"},
		"an empty port":               {"host:", HostPort{}, "Invalid url in bootstrap.servers: host:"},
		"a port that is no number":    {"host:abc", HostPort{}, "Invalid url in bootstrap.servers: host:abc"},
		"a port above the largest":    {"h:65536", HostPort{}, "Invalid port in bootstrap.servers: h:65536"},
		"a port beyond any number":    {"h:99999999999999999999", HostPort{}, "Invalid port in bootstrap.servers: h:99999999999999999999"},
		"a path":                      {"http://h:1/", HostPort{}, "Invalid url in bootstrap.servers: http://h:1/"},
		"a blank inside":              {"host name:9092", HostPort{}, "Invalid url in bootstrap.servers: host name:9092"},
		"brackets without a port":     {"[::1]", HostPort{}, "Invalid url in bootstrap.servers: [::1]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseBootstrap([]string{tt.entry})
			switch {
			case tt.err != "" && (err == nil || err.Error() != tt.err):
				t.Errorf("got %v, want %s", err, tt.err)
			case tt.err == "" && (err != nil || !cmp.Equal(got, []HostPort{tt.want})):
				t.Errorf("got %v %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestHostPortIsWrittenAsItIsRead(t *testing.T) {
	for _, want := range []string{"h:1", "[::1]:9092", "10.0.0.1:0"} {
		got, err := ParseBootstrap([]string{want})
		if err != nil || got[0].String() != want {
			t.Errorf("%v %v, want %s", got, err, want)
		}
	}
}
