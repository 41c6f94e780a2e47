package config

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// envProvider gives environment variables whose whole name matches allow.
type envProvider struct {
	p     *parser
	allow *regexp.Regexp
}

func (e envProvider) get(path string, keys []string) (map[string]string, *Error) {
	if path != "" {
		text := "Path is not supported for EnvVarConfigProvider, invalid value '" + path + "'"
		e.p.lines = append(e.p.lines, Line{slog.LevelError, text})
		return nil, &Error{Key: configProviders, Message: text}
	}
	got := make(map[string]string)
	for _, pair := range e.p.out.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(keys, name) && e.allow.MatchString(name) {
			got[name] = value
		}
	}
	return got, nil
}

// fileProvider gives the entries of a properties file.
type fileProvider struct {
	p       *parser
	allowed allowedPaths
}

func (f fileProvider) get(path string, keys []string) (map[string]string, *Error) {
	real, ok := f.p.mayRead(f.allowed, path)
	if path == "" || !ok {
		return nil, nil
	}
	text, err := f.p.out.ReadFile(real)
	var entries []Setting
	if err == nil {
		entries, err = ParseProperties(text)
	}
	if err != nil {
		return nil, f.p.unreadable("Could not read properties from file " + path)
	}
	got := make(map[string]string)
	for _, e := range entries {
		if slices.Contains(keys, e.Key) {
			got[e.Key] = e.Value.(string)
		}
	}
	return got, nil
}

// dirProvider gives the files of a folder, each file's name a key and its text the value.
type dirProvider struct {
	p       *parser
	allowed allowedPaths
}

func (d dirProvider) get(path string, keys []string) (map[string]string, *Error) {
	real, ok := d.p.mayRead(d.allowed, path)
	if path == "" || !ok {
		return nil, nil
	}
	files, err := d.p.out.ReadDir(real)
	if err != nil {
		d.p.warn("The path " + path + " is not a directory")
		return nil, nil
	}
	got := make(map[string]string)
	for _, name := range files {
		if !slices.Contains(keys, name) {
			continue
		}
		text, err := d.p.out.ReadFile(filepath.Join(real, name))
		if err != nil {
			return nil, d.p.unreadable("Could not read file " + filepath.Join(path, name) + " for property " + name)
		}
		got[name] = string(text)
	}
	return got, nil
}

// ownProvider asks a source that the application brings. What it says of a failure goes into the error; its values don't.
type ownProvider struct {
	name, class string
	from        Provider
}

func (p *parser) ownProvider(name, class string, from Provider) (provider, *Error) {
	params := make(map[string]string)
	for key, s := range p.set {
		if param, ok := strings.CutPrefix(key, providerPrefix+name+".param."); ok {
			params[param], _ = s.Value.(string)
		}
	}
	if err := from.Configure(params); err != nil {
		return nil, Invalid(providerPrefix+name+".class", class, "the config provider refuses its parameters: "+err.Error())
	}
	return ownProvider{name, class, from}, nil
}

func (o ownProvider) get(path string, keys []string) (map[string]string, *Error) {
	got, err := o.from.Get(path, keys)
	if err != nil {
		text := "Config provider " + o.name + " (" + o.class + ") failed at path '" + path + "': " + err.Error()
		return nil, &Error{Key: configProviders, Message: text}
	}
	return got, nil
}

// unreadable is the error of a file, without the cause: it may quote the file.
func (p *parser) unreadable(text string) *Error {
	p.lines = append(p.lines, Line{slog.LevelError, text})
	return &Error{Key: configProviders, Message: text}
}

// allowedPaths are real paths at or under which a provider may read; nil allows everything.
type allowedPaths []string

// allowedPaths checks the parameter allowed.paths: absolute paths that exist, separated by commas.
func (p *parser) allowedPaths(param string, given bool) (allowedPaths, *Error) {
	if !given || param == "" {
		return nil, nil
	}
	allowed := allowedPaths{}
	for path := range strings.SplitSeq(param, ",") {
		path = filepath.Clean(path)
		if !filepath.IsAbs(path) {
			return nil, &Error{Key: configProviders, Message: "Path " + path + " is not absolute"}
		}
		real, err := p.out.RealPath(path)
		if err != nil {
			return nil, &Error{Key: configProviders, Message: "Path " + path + " does not exist"}
		}
		allowed = append(allowed, real)
	}
	return allowed, nil
}

// mayRead gives the path to read instead of path, free of links when only some paths are allowed; ok is false when path
// is none of them.
func (p *parser) mayRead(allowed allowedPaths, path string) (real string, ok bool) {
	if allowed == nil || path == "" {
		return path, true
	}
	real, err := p.out.RealPath(path)
	inside := func(root string) bool {
		below, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(below)
	}
	if err == nil && slices.ContainsFunc(allowed, inside) {
		return real, true
	}
	p.warn("The path " + path + " is not allowed to be accessed")
	return "", false
}
