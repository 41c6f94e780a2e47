package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world is an outside with two variables, a file and a folder.
func world() Outside {
	files := map[string]string{"/s/p.properties": "id=from-file\nempty=\n", "/s/d/one": "from-dir\n", "/s/d/.hidden": "h"}
	return Outside{
		Environ: func() []string { return []string{"NAME=from-env", "N=7", "EQ=a=b"} },
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := files[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		ReadDir: func(path string) ([]string, error) {
			if path != "/s/d" {
				return nil, errors.New("not a folder")
			}
			return []string{".hidden", "one"}, nil
		},
		RealPath: func(path string) (string, error) {
			switch {
			case path == "/link":
				return "/etc/passwd", nil
			case strings.HasPrefix(path, "/s"):
				return filepath.Clean(path), nil
			}
			return "", fs.ErrNotExist
		},
	}
}

func withProviders(pairs ...string) []Setting {
	return given(append([]string{
		"config.providers=env,file,dir",
		"config.providers.env.class=" + classOfProvider + "EnvVarConfigProvider",
		"config.providers.file.class=" + classOfProvider + "FileConfigProvider",
		"config.providers.dir.class=" + classOfProvider + "DirectoryConfigProvider",
	}, pairs...)...)
}

// CFG-71, SEC-12
func TestReferencesAreReplacedByWhatTheProvidersGive(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a variable":                          {"${env:NAME}", "from-env"},
		"a variable with a sign in its value": {"${env:EQ}", "a=b"},
		"a file's entry":                      {"${file:/s/p.properties:id}", "from-file"},
		"an empty entry":                      {"${file:/s/p.properties:empty}", ""},
		"a file in a folder, trimmed later":   {"${dir:/s/d:one}", "from-dir"},
		"two in one text":                     {"<${env:NAME}-${dir:/s/d:.hidden}>", "<from-env-h>"},
		"what a provider lacks stays":         {"${env:NOPE}", "${env:NOPE}"},
		"another provider's stays":            {"${other:NAME}", "${other:NAME}"},
		"a folder that is none":               {"${dir:/s/p.properties:id}", "${dir:/s/p.properties:id}"},
		"a file below the folder":             {"${dir:/s:d/one}", "${dir:/s:d/one}"},
		"no path":                             {"${file:id}", "${file:id}"},
		"no reference":                        {"$env:NAME}", "$env:NAME}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := ParseWith(withProviders("client.id="+tt.text), world())
			if err != nil || c.ClientID != tt.want {
				t.Errorf("got %+v %v, want %q", c, err, tt.want)
			}
		})
	}
}

func TestProvidersThatCannotBeUsedAreErrors(t *testing.T) {
	tests := map[string]struct{ set, want string }{
		"a path for a variable": {"client.id=${env:p:NAME}", "Path is not supported for EnvVarConfigProvider, invalid value 'p'"},
		"a file that is not there": {"client.id=${file:/s/none:id}",
			"Could not read properties from file /s/none"},
		"an unknown class": {"config.providers.env.class=no.such.Provider", "Invalid value no.such.Provider for configuration " +
			"config.providers.env.class: Could not load config provider class or one of its dependencies"},
		"a pattern that is none": {"config.providers.env.param.allowlist.pattern=(",
			"Invalid value ( for configuration config.providers.env.param.allowlist.pattern: Not a regular expression"},
		"a relative allowed path":           {"config.providers.file.param.allowed.paths=s", "Path s is not absolute"},
		"an allowed path that is not there": {"config.providers.dir.param.allowed.paths=/none", "Path /none does not exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseWith(withProviders(tt.set), world()); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAnAllowListKeepsTheRestOut(t *testing.T) {
	tests := map[string]struct {
		allow, text, want string
	}{
		"a variable whose whole name matches": {"env.param.allowlist.pattern=NA.*", "${env:NAME}", "from-env"},
		"a variable that matches in part":     {"env.param.allowlist.pattern=NA", "${env:NAME}", "${env:NAME}"},
		"a file under an allowed path":        {"file.param.allowed.paths=/s/d,/s", "${file:/s/p.properties:id}", "from-file"},
		"a file beside an allowed path":       {"file.param.allowed.paths=/s/d", "${file:/s/p.properties:id}", "${file:/s/p.properties:id}"},
		"a path that climbs out":              {"file.param.allowed.paths=/s/d", "${file:/s/d/../p.properties:id}", "${file:/s/d/../p.properties:id}"},
		"a path that begins alike":            {"dir.param.allowed.paths=/s/d", "${dir:/s/dd:one}", "${dir:/s/dd:one}"},
		"a link that leads out":               {"file.param.allowed.paths=/s", "${file:/link:root}", "${file:/link:root}"},
		"a folder that is allowed itself":     {"dir.param.allowed.paths=/s/d", "${dir:/s/d:one}", "from-dir"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := ParseWith(withProviders("config.providers."+tt.allow, "client.id="+tt.text), world())
			if err != nil || c.ClientID != tt.want {
				t.Errorf("got %+v %v, want %q", c, err, tt.want)
			}
			if tt.want == tt.text && strings.Contains(tt.allow, "paths") {
				wantWarning(t, c, "is not allowed to be accessed")
			}
		})
	}
}

func TestWhatAProviderGaveIsHidden(t *testing.T) {
	c, err := ParseWith(withProviders("client.rack=${env:NAME}"), world())
	if err != nil || c.ClientRack != "from-env" || strings.Contains(c.String(), "from-env") {
		t.Errorf("%s %v", c, err)
	}
	for set, want := range map[string]string{
		"linger.ms=${env:NAME}":         "Invalid value [hidden] for configuration linger.ms: Not a number of type LONG",
		"acks=${env:NAME}":              "Invalid value [hidden] for configuration acks: String must be one of: all, -1, 0, 1",
		"partitioner.class=${env:NAME}": "Invalid value [hidden] for configuration partitioner.class: The class could not be found.",
		"bootstrap.servers=${env:NAME}": "Invalid value [hidden] for configuration bootstrap.servers: Not a list of host:port",
	} {
		out := world()
		out.ClassKnown = func(key, _ string) bool { return key != partitionerClass }
		if _, err := ParseWith(withProviders(set), out); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The names in the prefix of log lines are hidden as everywhere else, also where one is made from the other.
func TestWhatAProviderGaveIsInNoLogLine(t *testing.T) {
	for set, want := range map[string]string{
		"client.id=${env:NAME}":                    "[Producer clientId=[hidden]] Instantiated",
		"client.id=${env:NAME} transactional.id=t": "[Producer clientId=[hidden], transactionalId=t] Instantiated",
		"client.id=c transactional.id=${env:NAME}": "[Producer clientId=c, transactionalId=[hidden]] Instantiated",
		"transactional.id=${env:NAME}":             "[Producer clientId=[hidden], transactionalId=[hidden]] Instantiated",
		"acks=${env:ONE}":                          "acks is set to [hidden], not set to 'all'",
	} {
		out := world()
		out.Environ = func() []string { return []string{"NAME=from-env", "ONE=1"} }
		c, err := ParseWith(withProviders(strings.Fields(set)...), out)
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		var log strings.Builder
		for _, l := range c.Lines {
			log.WriteString(l.Text + "\n")
		}
		for _, e := range c.Effective() {
			log.WriteString(e.Key + "=" + e.Value + " " + e.Origin() + "\n")
		}
		if strings.Contains(log.String(), "from-env") || !strings.Contains(log.String(), want) {
			t.Errorf("%s: want %q and no value in\n%s", set, want, log.String())
		}
		if got := c.Shown("client.id"); strings.Contains(set, "NAME") && !strings.Contains(set, "client.id=c") && got != hidden {
			t.Errorf("%s: client.id is shown as %s", set, got)
		}
	}
}

func TestProvidersReadTheRealWorldByDefault(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "name"), []byte("c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("name", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LINGER_TEST_RACK", "r")
	c, err := Parse(withProviders("config.providers.dir.param.allowed.paths="+dir,
		"client.id=${dir:"+dir+":link}", "client.rack=${env:LINGER_TEST_RACK}"))
	if err != nil || c.ClientID != "c" || c.ClientRack != "r" {
		t.Errorf("%+v %v", c, err)
	}
}
