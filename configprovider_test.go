package linger_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"linger"
)

// vault is a ConfigProvider with one secret.
type vault struct {
	address string
	err     error
}

func (v *vault) Configure(params map[string]string) error {
	v.address = params["address"]
	if v.address == "" {
		return errors.New("address is missing")
	}
	return nil
}

// vaultSecret must be in no error.
const vaultSecret = "a-secret-password"

func (v *vault) Get(path string, keys []string) (map[string]string, error) {
	if v.err != nil {
		return nil, v.err
	}
	if path == "panics" {
		panic("out of reach: " + vaultSecret)
	}
	if path != "kafka/login" {
		return nil, nil
	}
	return map[string]string{keys[0]: v.address + "/" + keys[0]}, nil
}

func withVault(v *vault, more ...linger.Option) []linger.Option {
	return append([]linger.Option{
		linger.WithRegistry(linger.NewRegistry().With("example.Vault", func() any { return v })),
		linger.ConfigProviders("v"), linger.Set("config.providers.v.class", "example.Vault"), linger.BootstrapServers("127.0.0.1:1"),
	}, more...)
}

// SEC-11, SEC-12: the application's own source of values; what it gives is used and not shown.
func TestOptionsFromTheApplicationsOwnProvider(t *testing.T) {
	var log bytes.Buffer
	opts := withVault(&vault{}, linger.Set("config.providers.v.param.address", "s3cret"), linger.ClientID("${v:kafka/login:id}"),
		linger.ClientRack("${v:elsewhere:rack}"), linger.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	var seen map[string]string
	opts = append(opts, linger.WithPartitioner(&configuredPartitioner{Partitioner: linger.RoundRobin(), seen: &seen}))
	p, err := linger.New(linger.ByteArray, linger.ByteArray, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := seen["client.id"]; got != "s3cret/id" {
		t.Errorf("client.id is %q, want what the vault gave", got)
	}
	if got := seen["client.rack"]; got != "${v:elsewhere:rack}" {
		t.Errorf("client.rack is %q, want the reference that the vault could not follow", got)
	}
	if strings.Contains(log.String(), "s3cret/id") {
		t.Errorf("the log shows it:\n%s", &log)
	}
}

// configuredPartitioner keeps the options it was shown.
type configuredPartitioner struct {
	linger.Partitioner
	seen *map[string]string
}

func (c *configuredPartitioner) Configure(values map[string]string) error {
	*c.seen = values
	return nil
}

// SEC-12: a provider that fails is New's error, with its name and what it says.
func TestAProviderThatFailsIsNamed(t *testing.T) {
	address := linger.Set("config.providers.v.param.address", "a")
	for name, it := range map[string]struct {
		opts []linger.Option
		want string
	}{
		"refuses its parameters": {withVault(&vault{}), "config.providers.v.class: the config provider refuses its parameters: address is missing"},
		"can't answer":           {withVault(&vault{err: errors.New("sealed")}, address, linger.ClientID("${v:kafka/login:id}")), "Config provider v (example.Vault) failed at path 'kafka/login': sealed"},
		"panics":                 {withVault(&vault{}, address, linger.ClientID("${v:panics:id}")), "failed at path 'panics': Get panicked with a string"},
		"is no provider": {[]linger.Option{linger.ConfigProviders("v"), linger.Set("config.providers.v.class", "RoundRobinPartitioner"), linger.BootstrapServers("127.0.0.1:1")},
			"Could not load config provider class"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := linger.New(linger.ByteArray, linger.ByteArray, it.opts...)
			if err == nil {
				_ = p.Close()
			}
			if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), it.want) {
				t.Errorf("%v, want ErrConfig that says %q", err, it.want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), vaultSecret) {
				t.Errorf("it shows a secret: %#v", err)
			}
		})
	}
}
