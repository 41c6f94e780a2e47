package config

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/kerr"
)

func TestBrokersMustBeNamed(t *testing.T) {
	const missing = `Missing required configuration "bootstrap.servers" which has no default value.`
	wantError(t, missing, without(given(), bootstrapServers)) // CFG-02
	refuse(t, "Configuration 'bootstrap.servers' must not be empty. Valid values include: any non-empty value",
		"bootstrap.servers= ")
	refuse(t, "Configuration 'bootstrap.servers' values must not be empty.", "bootstrap.servers=a:1,,b:2")
	refuse(t, "Invalid url in bootstrap.servers: host", "bootstrap.servers=host")
}

func TestSerializersMustBeNamedOrGiven(t *testing.T) {
	const want = ".serializer: must be non-null."
	wantError(t, "Invalid value null for configuration key"+want, without(given(), keySerializer))     // CFG-03
	wantError(t, "Invalid value null for configuration value"+want, without(given(), valueSerializer)) // CFG-04
}

// CFG-05
func TestASerializerGivenAsAnObjectWinsOnItsSide(t *testing.T) {
	for _, order := range []bool{true, false} {
		s := []Setting{
			{Key: bootstrapServers, Value: "b:1"}, {Key: valueSerializer, Value: "named"},
			{Key: keySerializer, Value: Instance("given"), Source: "New"}, {Key: keySerializer, Value: "no.such.Class"},
		}
		if order {
			slices.Reverse(s)
		}
		c, err := ParseWith(s, Outside{ClassKnown: func(_, name string) bool { return name == "named" }})
		if err != nil || c.KeySerializer != "given" || c.ValueSerializer != "named" {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

func TestAPlugInNameThatNobodyKnowsIsRefused(t *testing.T) {
	_, err := ParseWith(given("partitioner.class= p.Q "), Outside{ClassKnown: func(key, _ string) bool { return key != partitionerClass }})
	if want := "Invalid value  p.Q  for configuration partitioner.class: Class  p.Q  could not be found."; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	refuse(t, "Invalid value  for configuration partitioner.class: Class  could not be found.", "partitioner.class=")
}

// CFG-11, CFG-12, CFG-13
func TestAcksAreAWordOrANumber(t *testing.T) {
	for text, want := range map[string]int16{"all": -1, "ALL": -1, " All ": -1, "-1": -1, "0": 0, " 1 ": 1} {
		if c := accept(t, "acks="+text); c.Acks != want {
			t.Errorf("acks %q became %d", text, c.Acks)
		}
	}
	for _, text := range []string{"2", "-2", "one", "", "01", "+1"} {
		refuse(t, "Invalid value "+text+" for configuration acks: String must be one of: all, -1, 0, 1", "acks="+text)
	}
}

// CFG-72
func TestNumbersMustBeNumbersOfTheirSize(t *testing.T) {
	for text, key := range map[string]string{
		"abc": batchSize, "": batchSize, "5.0": batchSize, "0x10": lingerMs, "5 0": lingerMs, "1_000": lingerMs, "--5": lingerMs,
	} {
		k, _ := Lookup(key)
		refuse(t, "Invalid value "+text+" for configuration "+key+": Not a number of type "+k.Type.String(), key+"="+text)
	}
	refuse(t, "Invalid value 2147483648 for configuration batch.size: Not a number of type INT", "batch.size=2147483648")
	refuse(t, "Invalid value 9223372036854775808 for configuration linger.ms: Not a number of type LONG",
		"linger.ms=9223372036854775808")
	refuse(t, "Invalid value 3601 for configuration sasl.login.refresh.buffer.seconds: Value must be no more than 3600",
		"sasl.login.refresh.buffer.seconds=3601")
	if c := accept(t, "batch.size=+2147483647", "linger.ms= 7 "); c.BatchSize != 2147483647 || c.LingerMs != 7 {
		t.Errorf("%+v", c.Values)
	}
}

func TestGoValuesAreTakenWhereTheyFit(t *testing.T) {
	tests := map[string]struct {
		set  Setting
		want string // error; empty when accepted
	}{
		"an int for an int":             {Setting{Key: batchSize, Value: 7}, ""},
		"an int64 for an int":           {Setting{Key: batchSize, Value: int64(7)}, ""},
		"an int for a long":             {Setting{Key: lingerMs, Value: 7}, ""},
		"an int64 too large":            {Setting{Key: batchSize, Value: int64(1 << 31)}, "Invalid value 2147483648 for configuration batch.size: Not a number of type INT"},
		"a bool":                        {Setting{Key: enableIdempotence, Value: true}, ""},
		"a bool for a number":           {Setting{Key: batchSize, Value: true}, "Invalid value true for configuration batch.size: Expected value to be a 32-bit integer, but it was a bool"},
		"a number for a text":           {Setting{Key: acks, Value: 1}, "Invalid value 1 for configuration acks: Expected value to be a string, but it was a int"},
		"a fraction for a long":         {Setting{Key: lingerMs, Value: 5.5}, "Invalid value 5.5 for configuration linger.ms: Expected value to be a 64-bit integer (long), but it was a float64"},
		"strings for a list":            {Setting{Key: "interceptor.classes", Value: []string{"a", "b"}}, ""},
		"a number for a list":           {Setting{Key: bootstrapServers, Value: 5}, "Invalid value 5 for configuration bootstrap.servers: Expected a comma separated list."},
		"a number for a bool":           {Setting{Key: enableIdempotence, Value: 1}, "Invalid value 1 for configuration enable.idempotence: Expected value to be either true or false"},
		"a number for a class":          {Setting{Key: partitionerClass, Value: 7}, "Invalid value 7 for configuration partitioner.class: Expected a Class instance or class name."},
		"something else, not shown":     {Setting{Key: batchSize, Value: struct{ P string }{"pw"}}, "Invalid value of type struct { P string } for configuration batch.size: Expected value to be a 32-bit integer, but it was a struct { P string }"},
		"a number for a secret, hidden": {Setting{Key: "ssl.key.password", Value: 4711}, "Invalid value [hidden] for configuration ssl.key.password: Expected value to be a string, but it was a int"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.want != "" {
				wantError(t, tt.want, append(given(), tt.set))
			} else if _, err := Parse(append(given(), tt.set)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheFirstErrorInTheOrderOfTheTableWins(t *testing.T) {
	refuse(t, "Invalid value z for configuration acks: String must be one of: all, -1, 0, 1",
		"batch.size=x", "linger.ms=y", "acks=z")
	refuse(t, errRetries, "retries=0", "enable.idempotence=true", "delivery.timeout.ms=1", "bootstrap.servers=host")
}

func TestALaterSettingWins(t *testing.T) {
	c := accept(t, "linger.ms=1", "linger.ms=2")
	if c.LingerMs != 2 {
		t.Errorf("linger %d", c.LingerMs)
	}
}

func TestDuplicatesInAListAreRemovedWithAWarning(t *testing.T) {
	c := accept(t, "bootstrap.servers=a:1,b:2,a:1")
	if want := []HostPort{{"a", 1}, {"b", 2}}; !cmp.Equal(c.Bootstrap, want) {
		t.Errorf("%v, want %v", c.Bootstrap, want)
	}
	wantWarning(t, c, `Configuration key "bootstrap.servers" contains duplicate values. Duplicates will be removed. `+
		"The original value is: [a:1, b:2, a:1], the updated value is: [a:1, b:2]")
}

// CFG-73: a key that nobody knows is no error; it is named in the log when nothing reads it.
func TestUnknownAndIdleSettingsAreNamed(t *testing.T) {
	c := accept(t, "zeta=1", "key.serializer.encoding=UTF-16", "compression.gzip.level=5", "Batch.Size=5", "linger.ms=1")
	line, ok := c.Unused("key.serializer.encoding")
	want := "These configurations '[zeta, compression.gzip.level, Batch.Size]' were supplied but are not used yet."
	if !ok || line.Text != want {
		t.Errorf("got %q, want %q", line.Text, want)
	}
	if want := map[string]any{"zeta": "1", "key.serializer.encoding": "UTF-16", "Batch.Size": "5"}; !cmp.Equal(c.Extras(), want) {
		t.Errorf("extras %v", c.Extras())
	}
	if line, ok := accept(t, "linger.ms=1", "compression.type=gzip", "compression.gzip.level=5").Unused(); ok {
		t.Error(line.Text)
	}
}

// CFG-64, CFG-65, CFG-66
func TestAProducerHasAName(t *testing.T) {
	lastClient.Store(0)
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{nil, "producer-1"},
		{[]string{"client.id=mine"}, "mine"},
		{[]string{"client.id="}, ""},
		{[]string{"transactional.id=t"}, "producer-t"},
		{[]string{"transactional.id=t", "client.id=mine"}, "mine"},
		{nil, "producer-2"},
	} {
		if c := accept(t, tt.set...); c.ClientID != tt.want || find(t, c, clientID).Value != tt.want {
			t.Errorf("%q is named %q, want %q", tt.set, c.ClientID, tt.want)
		}
	}
	refuse(t, errRetries, "enable.idempotence=true", "retries=0")
	refuse(t, "Invalid value x for configuration linger.ms: Not a number of type LONG", "linger.ms=x")
	if _, err := Parse(given("ssl.engine.factory.class=x.Y")); err == nil {
		t.Error("a Java class is accepted")
	}
	if c := accept(t); c.ClientID != "producer-3" {
		t.Errorf("a refused configuration took a number: %s", c.ClientID)
	}
}

// CFG-66
func TestNamesAreUniqueWhenMadeAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	names := make([]string, 64)
	for i := range names {
		wg.Go(func() {
			if c, err := Parse(given()); err == nil {
				names[i] = c.ClientID
			}
		})
	}
	wg.Wait()
	slices.Sort(names)
	if len(slices.Compact(names)) != 64 || names[0] == "" {
		t.Errorf("%q", names)
	}
}

func TestAnErrorIsAConfigurationErrorAndNamesItsKey(t *testing.T) {
	_, err := Parse(given("transactional.id=t", "acks=1"))
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Key != transactionalID || !errors.Is(err, kerr.ErrConfig) {
		t.Fatalf("%#v", err)
	}
	if len(e.Lines) != 1 || !strings.Contains(e.Lines[0].Text, "Idempotence will be disabled because acks is set to 1") {
		t.Errorf("lines before the error: %v", e.Lines)
	}
}

func TestAListFromGetIsTheCallersOwn(t *testing.T) {
	c := accept(t, "interceptor.classes=a,b")
	v, _ := c.Get("interceptor.classes")
	v.([]string)[0] = "x"
	if again, _ := c.Get("interceptor.classes"); again.([]string)[0] != "a" {
		t.Error("a caller changed the configuration")
	}
}
