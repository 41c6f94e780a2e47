package linger

import (
	"linger/internal/config"
)

// ConfigProvider is a source of option values that stand elsewhere, such as a vault (config.providers, KIP-297). Register
// it under a name, and name that as its class:
//
//	registry := linger.NewRegistry().With("Vault", func() any { return vault })
//	linger.New(…, linger.WithRegistry(registry), linger.Set("config.providers", "v"), linger.Set("config.providers.v.class", "Vault"),
//		linger.Set("sasl.jaas.config", `… password="${v:kafka/login:password}";`))
//
// It is asked while New runs, on the caller's goroutine, and never afterwards. A Configure(map[string]string) error gets the
// parameters config.providers.NAME.param.… before. Its values are shown nowhere; the text of its errors is shown in New's.
type ConfigProvider interface {
	// Get gives what path has of keys; what it lacks is left out, and its reference stays as it is. path is empty for
	// ${name:key}.
	Get(path string, keys []string) (map[string]string, error)
}

// configProvider is the source that a class name stands for, nil when it stands for none.
func (r Registry) configProvider(class string) config.Provider {
	mk := r.entries[class]
	if mk == nil {
		return nil
	}
	if p, ok := mk().(ConfigProvider); ok {
		return guardedProvider{p}
	}
	return nil
}

// guardedProvider makes errors of its panics, without their words: it has secrets in its hands.
type guardedProvider struct{ from ConfigProvider }

func (g guardedProvider) Configure(params map[string]string) error {
	if c, ok := g.from.(configurable); ok {
		return configureOne(c, params)
	}
	return nil
}

func (g guardedProvider) Get(path string, keys []string) (got map[string]string, err error) {
	defer recoverUnquoted("Get", &err)
	return g.from.Get(path, keys)
}
