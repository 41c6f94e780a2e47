package config

import (
	"os"
	"path/filepath"
)

// Outside is what a configuration asks of the world around it. A nil field is the real thing; the zero Outside is the
// process as it is. The functions are called from the goroutine of ParseWith only.
type Outside struct {
	// ClassKnown reports whether a serializer or partitioner of that name exists. Nil: the name is not checked here.
	ClassKnown func(key, name string) bool
	// Provider makes the source of values that class stands for, nil when it stands for none. Nil: there are only Java's three.
	Provider func(class string) Provider
	// Environ lists the environment as os.Environ does.
	Environ func() []string
	// ReadFile reads a file as os.ReadFile does.
	ReadFile func(path string) ([]byte, error)
	// ReadDir names the regular files of a folder, without their path.
	ReadDir func(path string) ([]string, error)
	// RealPath is an existing path made absolute and free of symbolic links.
	RealPath func(path string) (string, error)
}

// Provider is a source of values that is the application's own (Java: ConfigProvider, KIP-297).
type Provider interface {
	// Configure gets the parameters config.providers.NAME.param.…, without that prefix, before anything is asked.
	Configure(params map[string]string) error
	// Get gives what path has of keys; what it lacks is left out. path is empty for ${name:key}.
	Get(path string, keys []string) (map[string]string, error)
}

func (o Outside) orReal() Outside {
	if o.Provider == nil {
		o.Provider = func(string) Provider { return nil }
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.ReadDir == nil {
		o.ReadDir = regularFiles
	}
	if o.RealPath == nil {
		o.RealPath = realPath
	}
	return o
}

// knows reports whether name is a usable plug-in name; the empty one never is.
func (o Outside) knows(key, name string) bool {
	if classesOfOAuth[key] != nil {
		return isJavaClass(key, name)
	}
	return name != "" && (o.ClassKnown == nil || o.ClassKnown(key, name))
}

func regularFiles(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		// Followed, since mounted secrets are links.
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
