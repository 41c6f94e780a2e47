package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The variables of the environment that limit what the options may point to, each a list with commas between. They stand for
// Java's system properties org.apache.kafka.sasl.oauthbearer.allowed.urls and .files: whoever runs the process uses them
// when the options come from somebody less trusted. Unlike in Java, nothing is limited when they aren't set: a Go program's
// options are its own.
const (
	AllowedURLs  = "LINGER_SASL_OAUTHBEARER_ALLOWED_URLS"
	AllowedFiles = "LINGER_SASL_OAUTHBEARER_ALLOWED_FILES"
)

// allowed checks a value against such a list.
func allowed(key, value, kind, variable string, environment func(string) (string, bool)) error {
	list, limited := environment(variable)
	if !limited {
		return nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(entry) == value {
			return nil
		}
	}
	return refuse(key, fmt.Sprintf("The %s of %s cannot be accessed due to restrictions", kind, key),
		fmt.Sprintf("add it to the environment variable %s to allow the %s to be accessed", variable, kind))
}

// endpoint is the URL where tokens are, checked as Java checks it.
func (s settings) endpoint(environment func(string) (string, bool)) (*url.URL, error) {
	text, err := s.needed(keyEndpoint, "set it to where the identity provider gives out tokens")
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil { // its own text shows the URL, with what may be a password
		why := err
		if e, ok := errors.AsType[*url.Error](err); ok {
			why = e.Err
		}
		return nil, refuse(keyEndpoint, fmt.Sprintf("The OAuth configuration option %s contains a URL that is malformed: %v", keyEndpoint, why), "")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme == "":
		return nil, refuse(keyEndpoint, fmt.Sprintf("The OAuth configuration option %s contains a URL that is malformed: no protocol: %s", keyEndpoint, shown(u)), "")
	case !slices.Contains([]string{"http", "https", "file"}, u.Scheme):
		return nil, refuse(keyEndpoint, fmt.Sprintf("The OAuth configuration option %s contains a URL that contains an invalid protocol (%s)", keyEndpoint, u.Scheme),
			`only "http", "https", and "file" protocol are supported`)
	case u.Scheme != "file" && u.Hostname() == "":
		return nil, refuse(keyEndpoint, fmt.Sprintf("The OAuth configuration option %s contains a URL without a host: %s", keyEndpoint, shown(u)), "")
	}
	return u, allowed(keyEndpoint, text, "URL", AllowedURLs, environment)
}

// shown is a URL without the parts that may hold secrets.
func shown(u *url.URL) string {
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.Scheme != "" && u.Opaque != "" {
		return u.Scheme + ":…"
	}
	return clean.String()
}

// file is an option that names a file, checked as Java checks it; the path is absolute.
func (s settings) file(key, remedy string, environment func(string) (string, bool)) (string, error) {
	name, err := s.needed(key, remedy)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", refuse(key, err.Error(), "")
	}
	if err := readable(key, path); err != nil {
		return "", err
	}
	return path, allowed(key, path, "file", AllowedFiles, environment)
}

func readable(key, path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return refuse(key, fmt.Sprintf("The OAuth configuration option %s contains a file (%s) that doesn't exist", key, path), "")
	case errors.Is(err, os.ErrPermission):
		return refuse(key, fmt.Sprintf("The OAuth configuration option %s contains a file (%s) that doesn't have read permission", key, path), "")
	case err != nil:
		return refuse(key, fmt.Sprintf("The OAuth configuration option %s contains a file (%s) that can't be read: %v", key, path, err), "")
	}
	info, err := f.Stat()
	_ = f.Close() // nothing was written
	if err == nil && info.IsDir() {
		return refuse(key, fmt.Sprintf("The OAuth configuration option %s references a directory (%s), not a file", key, path), "")
	}
	return nil
}

// fromFile reads tokens from the file that the URL names; it is read again when it has changed.
func (s settings) fromFile(u *url.URL) (func(context.Context) (jwt, where string, err error), error) {
	if u.Scheme != "file" || u.Path == "" {
		return nil, refuse(keyEndpoint, "The OAuth configuration option "+keyEndpoint+" is no file, and FileJwtRetriever reads one",
			"give a URL such as file:///path/to/token")
	}
	if err := readable(keyEndpoint, filepath.FromSlash(u.Path)); err != nil {
		return nil, err
	}
	path := filepath.FromSlash(u.Path)
	get, err := from(keyEndpoint, &watched[string]{path: path, read: readableToken})
	if err != nil {
		return nil, err
	}
	return func(context.Context) (string, string, error) {
		jwt, err := get()
		return jwt, path, err
	}, nil
}

// readableToken is the token in a file's text; header and payload must be readable.
func readableToken(text []byte) (string, error) {
	jwt := strings.TrimSpace(string(text))
	header, payload, err := sections(jwt)
	if err != nil {
		return "", err
	}
	for _, part := range []string{header, payload} {
		if _, err := decode(part); err != nil {
			return "", err
		}
	}
	return jwt, nil
}
