package sasl

import (
	"strings"
	"testing"

	"linger/test/oracle"
)

// vector is what Java made of a configuration; here only those with a login by SASL count.
type vector struct {
	ID     string         `json:"id"`
	Input  map[string]any `json:"input"`
	Config struct {
		OK bool `json:"ok"`
	} `json:"config"`
	Producer struct {
		OK    bool `json:"ok"`
		Error []struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"producer"`
}

func (v vector) text(key string) string {
	s, _ := v.Input[key].(string)
	return strings.TrimSpace(s)
}

// java is all that Java said.
func (v vector) java() string {
	var b strings.Builder
	for _, e := range v.Producer.Error {
		b.WriteString(e.Message + "\n")
	}
	return b.String()
}

func (v vector) says(part string) bool { return strings.Contains(v.java(), part) }

// make does what New does with the login.
func (v vector) make() error {
	mechanism := v.text("sasl.mechanism")
	switch mechanism {
	case PlainName, ScramSHA256Name, ScramSHA512Name:
		_, err := FromJAAS(mechanism, v.text("sasl.jaas.config"), nil)
		return err
	}
	_, err := ParseJAAS(v.text("sasl.jaas.config"))
	return err
}

// SEC-06: a login module's text is read as the Java producer reads it, with Java's words about what is wrong in it.
func TestOracleLogins(t *testing.T) {
	var set struct {
		Cases []vector `json:"cases"`
	}
	oracle.Load(t, "config-validate.json", &set)
	var logins []vector
	for _, v := range set.Cases {
		// Java looks into the module only once the configuration as such is accepted, and loads handlers of the user's own first.
		sasl := strings.HasPrefix(strings.ToUpper(v.text("security.protocol")), "SASL_")
		if sasl && v.Config.OK && v.text("sasl.jaas.config") != "" && v.text("sasl.login.callback.handler.class") == "" {
			logins = append(logins, v)
		}
	}
	oracle.Run(t, logins, func(v vector) string { return v.ID }, differences(), func(t *testing.T, v vector) {
		switch err := v.make(); {
		case v.Producer.OK && err != nil:
			t.Errorf("refused: %v", err)
		case !v.Producer.OK && (err == nil || !v.says(err.Error())):
			t.Errorf("got %v, Java says %s", err, v.java())
		}
	})
}

func differences() []oracle.Rule[vector] {
	refused := func(part string) func(t *testing.T, v vector) {
		return func(t *testing.T, v vector) {
			if err := v.make(); err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want an error with %q", err, part)
			}
		}
	}
	return []oracle.Rule[vector]{
		{
			Name:    "what stands in the place of a control flag is not repeated",
			Reason:  "after a forgotten word it may be the password",
			Matches: func(v vector) bool { return v.says("Invalid login module control flag") },
			Instead: refused("Invalid login module control flag in JAAS config"),
		},
		{
			Name:    "Java classes are not loaded",
			Reason:  "the module says which login is meant and is compared by name; one that does not fit is named together with one that does",
			Matches: func(v vector) bool { return v.says("is not allowed") || v.says("No LoginModule found") },
			Instead: refused("needs the login module org.apache.kafka."),
		},
		{
			Name:   "a login that can't work is refused at once",
			Reason: "Java makes the producer and fails at each connection",
			Matches: func(v vector) bool {
				builtIn := v.text("sasl.mechanism") == PlainName || strings.HasPrefix(v.text("sasl.mechanism"), "SCRAM-SHA-")
				return v.Producer.OK && builtIn && v.make() != nil
			},
			Instead: func(t *testing.T, v vector) {
				text := v.text("sasl.jaas.config")
				module := strings.Contains(text, "ScramLoginModule") != strings.HasPrefix(v.text("sasl.mechanism"), "SCRAM")
				whole := strings.Contains(text, "username=") && strings.Contains(text, "password=")
				if !module && whole {
					t.Errorf("refused: %v", v.make())
				}
			},
		},
		{
			Name:    "Kerberos is a plug-in's business",
			Reason:  "no Kerberos in the library itself",
			Matches: func(v vector) bool { return v.text("sasl.mechanism") == GSSAPIName && !v.Producer.OK },
			Instead: func(*testing.T, vector) {},
		},
	}
}
