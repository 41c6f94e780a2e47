package sasl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJAASIsReadAsJavaReadsIt(t *testing.T) {
	const plain = PlainModule + " required "
	for name, it := range map[string]struct {
		text string
		want map[string]string
	}{
		"no options":                          {plain + ";", map[string]string{}},
		"quoted values":                       {plain + `username="alice" password="a b;c=d";`, map[string]string{"username": "alice", "password": "a b;c=d"}},
		"single quotes":                       {plain + `password='a "b"';`, map[string]string{"password": `a "b"`}},
		"bare words":                          {plain + "username=alice-1_2$x.y tokenauth=true;", map[string]string{"username": "alice-1_2$x.y", "tokenauth": "true"}},
		"an escaped quote and backslash":      {plain + `password="a\"b\\c";`, map[string]string{"password": `a"b\c`}},
		"control characters":                  {plain + `password="a\tb\nc\101\60";`, map[string]string{"password": "a\tb\ncA0"}},
		"an octal number of two digits":       {plain + `password="\477";`, map[string]string{"password": "'7"}},
		"an escaped letter stands for itself": {plain + `password="\p\q";`, map[string]string{"password": "pq"}},
		"letters of other alphabets":          {plain + `username=zoë password="ß";`, map[string]string{"username": "zoë", "password": "ß"}},
		"the last of two equal options":       {plain + `username=a username=b;`, map[string]string{"username": "b"}},
		"lines and comments": {"/* Kafka */\n" + PlainModule + "\n  required // the flag\n  username=\"a//b\" / also a comment\n  password=\"p\";\n",
			map[string]string{"username": "a//b", "password": "p"}},
		"any letter case of the flag":             {PlainModule + " ReQuisite username=u;", map[string]string{"username": "u"}},
		"no space around the equals sign or some": {plain + `username = "u" password="p" ;`, map[string]string{"username": "u", "password": "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ParseJAAS(it.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(it.want, l.Options); diff != "" || l.Module != PlainModule {
				t.Errorf("module %s, options -want +got\n%s", l.Module, diff)
			}
		})
	}
}

// SEC-11: what is wrong is said without a word of what could be a secret.
func TestBrokenJAASIsRefusedWithoutShowingIt(t *testing.T) {
	const plain = PlainModule + " required "
	for text, want := range map[string]string{
		"":                                 "Login module not specified",
		"/* nothing":                       "Login module not specified",
		"hunter2":                          "control flag not specified",
		"hunter2 ;":                        "control flag not specified",
		`"hunter2" hunter2;`:               "Invalid login module control flag",
		`username="u" password="hunter2";`: "Invalid login module control flag",
		PlainModule + ` username=hunter2;`: "Invalid login module control flag",
		plain + `username="u" password="hunter2"`:            "not terminated by semi-colon",
		plain + `password="hun"ter2;`:                        "Value not specified for option 2 in",
		plain + `password="hun"ter2";`:                       "a quote is not closed",
		plain + `password=7hunter2;`:                         "Value not specified for option 1 (password)",
		plain + `password=;`:                                 "Value not specified for option 1 (password)",
		plain + `hunter2;`:                                   "Value not specified for option 1 in",
		plain + `hunter2 hunter2;`:                           "Value not specified for option 1 in",
		plain + `password="hunter2;`:                         "a quote is not closed",
		plain + "password=\"hunter2\n\";":                    "a quote is not closed",
		plain + `password='hunter2\`:                         "a quote is not closed",
		plain + `username=u; ` + plain + `password=hunter2;`: "contains 2 login modules, should be 1",
		plain + `username=u; password=hunter2;`:              "Invalid login module control flag",
		`; hunter2`:                                          "control flag not specified",
	} {
		l, err := ParseJAAS(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
		for _, shown := range []string{fmt.Sprint(err), fmt.Sprintf("%v %+v %#v", l, l, l)} {
			if strings.Contains(shown, "hun") || strings.Contains(shown, "ter2") {
				t.Errorf("%s: the secret is shown: %s", text, shown)
			}
		}
	}
}

// Whatever the text, reading it ends, without a panic.
func FuzzParseJAAS(f *testing.F) {
	f.Add(PlainModule + ` required username="a\101" password='b' /* c */;`)
	f.Add(`a b c = "`)
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := ParseJAAS(text); err == nil && l.Options == nil {
			t.Error("a login without a map")
		}
	})
}
