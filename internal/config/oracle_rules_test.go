package config

import (
	"crypto/tls"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linger/test/oracle"
)

type rule = oracle.Rule[vector]

// oneEach lets the first rule that matches a case have it.
func oneEach(rules []rule) []rule {
	for i := range rules {
		before, matches := slices.Clone(rules[:i]), rules[i].Matches
		rules[i].Matches = func(v vector) bool {
			return matches(v) && !slices.ContainsFunc(before, func(r rule) bool { return r.Matches(v) })
		}
	}
	return rules
}

// differences are all kinds of cases in which linger means to differ from the Java producer.
func differences() []rule {
	return []rule{
		{
			Name:   "acks in any letter case",
			Reason: "Java's own parser of acks ignores case; only its validator does not",
			Matches: func(v vector) bool {
				return shoutsAll(v) && strings.Contains(v.Producer.message(), "configuration acks:")
			},
			Instead: func(t *testing.T, v vector) {
				switch c, err := v.parse(v.scratch(t)); {
				case err != nil && strings.Contains(err.Error(), "configuration acks"):
					t.Error(err) // Java stopped here; what else is wrong comes up now
				case err == nil && c.Acks != -1:
					t.Errorf("acks %d, want -1", c.Acks)
				}
			},
		},
		{
			Name:    "no system properties",
			Reason:  "a Go program has none; who writes config.providers means it",
			Matches: func(v vector) bool { return len(v.SystemProperties) > 0 },
			Instead: func(t *testing.T, v vector) { v.accepted(t) },
		},
		{
			Name:    "a config provider is one of Java's three",
			Reason:  "no other class can be loaded; all of them fail alike",
			Matches: func(v vector) bool { return strings.HasSuffix(v.Config.class(), "ClassCastException") },
			Instead: func(t *testing.T, v vector) {
				v.refused(t, "config.providers.", "Could not load config provider class")
			},
		},
		{
			Name:    "null where Java has no check",
			Reason:  "Java ends in a NullPointerException; a configuration error names the key",
			Matches: nullIsLeftIn,
			Instead: func(t *testing.T, v vector) { v.refused(t, "", "Invalid value null for configuration ") },
		},
		{
			Name:    "int and int64 are one type",
			Reason:  "a Go program has no reason to know which of Java's number types a key has",
			Matches: func(v vector) bool { return numberOfAnotherType.MatchString(v.Config.message()) },
			Instead: func(t *testing.T, v vector) {
				key := numberOfAnotherType.FindStringSubmatch(v.Config.message())[1]
				k, _ := Lookup(key)
				fits := k
				fits.Type = Long
				n, _ := convert(fits, v.settingOf(key))
				_, why := convert(k, v.settingOf(key))
				outside := n.(int64) != int64(int32(n.(int64))) || k.Type == Short && n.(int64) != int64(int16(n.(int64)))
				if outside != (why == "Not a number of type "+k.Type.String()) || !outside && why != "" {
					t.Errorf("%s: %v %s", key, n, why)
				}
			},
		},
		{
			Name:    "values are named by their Go type",
			Reason:  "the user wrote Go; and a secret is hidden, whatever its type",
			Matches: func(v vector) bool { return strings.Contains(v.Config.message(), "but it was a java.") },
			Instead: wrongGoType,
		},
		{
			Name:    "what a config provider gave is hidden",
			Reason:  "providers are there for secrets",
			Matches: func(v vector) bool { _, name := fetchedName(v); return name || fetchedValue(v) != "" },
			Instead: func(t *testing.T, v vector) {
				if name, ok := fetchedName(v); ok {
					sameAsProducerConfig(t, v)
					v.Producer.Logs = slices.Clone(v.Producer.Logs)
					for i := range v.Producer.Logs { // as Java's, but for the name in the prefix
						l := &v.Producer.Logs[i]
						l.Message = strings.Replace(l.Message, "[Producer clientId="+name, "[Producer clientId="+hidden, 1)
					}
					sameAsProducer(t, v)
					return
				}
				v.refused(t, "", "Invalid value [hidden] for configuration "+fetchedValue(v))
			},
		},
		{
			Name:    "classes of Java's that cannot run in Go",
			Reason:  "there is no other answer to a Java class than to refuse it by name; and no key is silently ignored",
			Matches: func(v vector) bool { return v.brings(refusedHere) },
			Instead: func(t *testing.T, v vector) {
				if v.Config.OK {
					sameAsProducerConfig(t, v)
				}
				v.refused(t, v.first(refusedHere), "is not supported")
			},
		},
		{
			Name:    "names that TLS does not know are refused at once",
			Reason:  "Java takes them and then fails each connection",
			Matches: func(v vector) bool { return v.Producer.OK && unknownToTLS(v) != "" },
			Instead: func(t *testing.T, v vector) {
				sameAsProducerConfig(t, v)
				v.refused(t, unknownToTLS(v), "")
			},
		},
		{
			Name:   "plug-ins and logins are made by the producer",
			Reason: "this room keeps names and the text of a login; the registry and internal/sasl, whose test has these cases too, know what they are",
			Matches: func(v vector) bool {
				return v.Config.OK && (aboutPlugins.MatchString(v.Producer.text()) || v.badLogin())
			},
			Instead: func(t *testing.T, v vector) {
				sameAsProducerConfig(t, v)
				v.accepted(t)
			},
		},
		{
			Name:   "names are resolved by the connections, ports are checked at once",
			Reason: "this room opens no socket; and a port above 65535 will not get better by waiting, as Java does",
			Matches: func(v vector) bool {
				return v.Config.OK && (aboutNames.MatchString(v.Producer.message()) || v.waitsForAPort())
			},
			Instead: func(t *testing.T, v vector) {
				sameAsProducerConfig(t, v)
				if v.waitsForAPort() {
					v.refused(t, bootstrapServers, "Invalid port in bootstrap.servers: ")
					return
				}
				if c := v.accepted(t); c != nil && len(c.Bootstrap) == 0 {
					t.Error("no bootstrap entry is left")
				}
			},
		},
		{
			Name:   "keys without effect say so",
			Reason: "Java's readers of them, which may not know the name, do not exist here; a warning tells the user",
			Matches: func(v vector) bool {
				return v.brings(noEffectHere) && (v.Producer.OK || noSuchInJava.MatchString(v.Producer.message()))
			},
			Instead: func(t *testing.T, v vector) {
				sameAsProducerConfig(t, v)
				v.Producer.OK = true
				k, _ := Lookup(v.first(noEffectHere))
				sameAsProducer(t, v, Line{Level: 4, Text: "Configuration " + k.Name + " has no effect: " + k.Note + "."})
			},
		},
	}
}

var (
	numberOfAnotherType = regexp.MustCompile(
		`for configuration (\S+): Expected value to be a (?:16|32)-bit integer.*java\.lang\.(?:Short|Integer|Long)$`)
	aboutPlugins = regexp.MustCompile(`(?m)is not an instance of|no-argument constructor|^class \S+$|cannot be found|` +
		`Unsupported encoding`)
	noSuchInJava = regexp.MustCompile(`(SecureRandom|TrustManagerFactory|KeyManagerFactory) not available$|no such provider`)
	aboutNames   = regexp.MustCompile(`No resolvable bootstrap urls|Unknown host in`)
	javaType     = regexp.MustCompile(`java\.\S+$`)
	invalidOne   = regexp.MustCompile(`^Invalid value .* for configuration (\S+):`)
	goTypeNames  = map[string]string{"java.lang.Boolean": "bool", "java.lang.Integer": "int", "java.lang.Long": "int64",
		"java.lang.Double": "float64", "java.util.ArrayList": "[]string", "java.util.List": "[]string"}
)

// badLogin reports whether Java made no client because of its SASL login. Kerberos is a plug-in's business.
func (v vector) badLogin() bool {
	protocol, _ := v.Input[securityProtocol].(string)
	return !v.Producer.OK && strings.EqualFold(trim(protocol), "SASL_PLAINTEXT")
}

// text is all that Java said.
func (o outcome) text() string {
	var all []string
	for _, e := range o.Error {
		all = append(all, e.Message)
	}
	return strings.Join(slices.Compact(all), "\n")
}

// nullIsLeftIn reports whether Java took a null that a part of it trips over, or would.
func nullIsLeftIn(v vector) bool {
	if strings.HasSuffix(v.Producer.class(), "NullPointerException") {
		return true
	}
	for _, k := range table {
		in, set := v.Input[k.Name]
		if set && in == nil && v.Config.OK && k.Group < Security && k.Valid == nil && !k.mayBeNull() {
			return true
		}
	}
	return false
}

// waitsForAPort reports whether Java put off looking at a port that is too large.
func (v vector) waitsForAPort() bool {
	timeout, ok := v.Input[bootstrapResolveTimeout]
	p := merge(v.settings("/tmp/none"), v.outside())
	if !ok || timeout == "0" || p.parseKeys() != nil {
		return false
	}
	err := p.parseBootstrap()
	return err != nil && strings.HasPrefix(err.Message, "Invalid port")
}

func shoutsAll(v vector) bool {
	s, _ := v.Input[acks].(string)
	return strings.EqualFold(trim(s), "all") && trim(s) != "all"
}

// fetchedValue is the key whose fetched value Java shows in its error.
func fetchedValue(v vector) string {
	m := invalidOne.FindStringSubmatch(v.Config.message())
	if m == nil {
		return ""
	}
	in, _ := v.Input[m[1]].(string)
	if !strings.Contains(in, "${") || strings.Contains(v.Config.message(), in) {
		return ""
	}
	return m[1]
}

// unknownToTLS is the key of a TLS connection that names something that Go does not speak, or leaves nothing to speak.
func unknownToTLS(v vector) string {
	text := func(key string) string { s, _ := v.Input[key].(string); return trim(s) }
	list := func(key string) []string {
		all := strings.FieldsFunc(text(key), func(r rune) bool { return r == ',' })
		for i := range all {
			all[i] = trim(all[i])
		}
		return all
	}
	const versions, suites, identification = "ssl.enabled.protocols", "ssl.cipher.suites", "ssl.endpoint.identification.algorithm"
	named, offered := list(versions), list(suites)
	if !strings.HasSuffix(strings.ToUpper(text(securityProtocol)), "SSL") {
		return ""
	}
	is12, is13 := slices.Contains(named, "TLSv1.2"), slices.Contains(named, "TLSv1.3")
	if _, set := v.Input[versions]; !set {
		is12, is13 = true, true
	} else if len(named) == 0 {
		is12 = !slices.Contains([]string{"TLSV1", "TLSV1.1", "SSLV3"}, strings.ToUpper(text("ssl.protocol")))
		is13 = is12 && !strings.EqualFold(text("ssl.protocol"), "TLSv1.2")
		if !is12 {
			return "ssl.protocol"
		}
	}
	isOld := func(name string) bool { return !slices.Contains([]string{"TLSv1.2", "TLSv1.3"}, name) }
	if !is12 && !is13 || slices.ContainsFunc(named, func(n string) bool { return isOld(n) && !javaRetired.MatchString(n) }) {
		return versions
	}
	of12 := slices.ContainsFunc(offered, func(n string) bool {
		return !strings.HasPrefix(n, "TLS_AES_") && !strings.HasPrefix(n, "TLS_CHACHA20_")
	})
	of13 := slices.ContainsFunc(offered, func(n string) bool { return strings.HasPrefix(n, "TLS_AES_") || strings.HasPrefix(n, "TLS_CHACHA20_") })
	if len(offered) > 0 && (slices.ContainsFunc(offered, notInGo) || !(is12 && of12 || is13 && of13)) {
		return suites
	}
	if name := text(identification); name != "" && !strings.EqualFold(name, "https") {
		return identification
	}
	return ""
}

var javaRetired = regexp.MustCompile(`^(TLSv1(\.1)?|SSLv3|SSLv2Hello)$`)

func notInGo(suite string) bool {
	return !slices.ContainsFunc(slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()), func(s *tls.CipherSuite) bool {
		return s.Name == suite || s.Name == strings.Replace(suite, "SSL_", "TLS_", 1)
	})
}

// fetchedName is the client.id if a config provider gave it.
func fetchedName(v vector) (name string, ok bool) {
	in, _ := v.Input[clientID].(string)
	name, ok = v.Config.Values[clientID].(string)
	return name, ok && v.Config.OK && strings.Contains(in, "${") && name != in
}

func refusedHere(k Key, typed any) bool {
	list, _ := typed.([]string)
	return k.Status == Refused || k.Name == metricReporters && slices.ContainsFunc(list, isForeign)
}
func noEffectHere(k Key, _ any) bool { return k.Status == NoEffect }

// first is the first key in table order that is of a kind and set to something valid other than its default.
func (v vector) first(kind func(Key, any) bool) string {
	for _, k := range table {
		if _, set := v.Input[k.Name]; !set {
			continue
		}
		typed, why := convert(k, v.settingOf(k.Name))
		if list, ok := typed.([]string); ok {
			typed = slices.Compact(list)
		}
		if why == "" && !k.isDefault(typed) && kind(k, typed) && (k.Valid == nil || k.Valid.check(k.Name, typed) == nil) {
			return k.Name
		}
	}
	return ""
}

// brings reports whether such a key is set and nothing else was wrong before.
func (v vector) brings(kind func(Key, any) bool) bool {
	return v.first(kind) != "" && (v.Config.OK || strings.Contains(v.Config.message(), "could not be found"))
}

func (v vector) settingOf(key string) any {
	return goValue(v.Input[key], v.InputTypes[key], "/tmp/none")
}

func (v vector) accepted(t *testing.T) *Config {
	t.Helper()
	c, err := v.parse(v.scratch(t))
	if err != nil {
		t.Errorf("refused: %v", err)
		return nil
	}
	return c
}

// refused wants an error about a key that begins with key, whose text contains part.
func (v vector) refused(t *testing.T, key, part string) {
	t.Helper()
	switch _, err := v.parse(v.scratch(t)); {
	case err == nil:
		t.Errorf("accepted, want an error with %q", part)
	case !strings.HasPrefix(err.Key, key) || !strings.Contains(err.Error(), part):
		t.Errorf("error about %q: %v, want one about %q with %q", err.Key, err, key, part)
	}
}

func wrongGoType(t *testing.T, v vector) {
	want := javaType.ReplaceAllStringFunc(v.Config.message(), func(j string) string { return goTypeNames[j] })
	if m := invalidOne.FindStringSubmatch(want); m != nil {
		if k, _ := Lookup(m[1]); k.Secret() {
			want = "Invalid value [hidden]" + want[strings.Index(want, " for configuration"):]
		}
	}
	if _, err := v.parse(v.scratch(t)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
