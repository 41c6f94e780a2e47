package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestAWrongCommandLineSaysWhatToDoAndSendsNothing(t *testing.T) {
	missing, bad := t.TempDir()+"/missing.txt", file(t, "bad.properties", "# a comment\npassword=\\u12")
	produce := []string{"produce", "--embedded", "-t", "t"}
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"an unknown command", []string{"prodcue"}, []string{`unknown command "prodcue"`, "produce"}},
		{"an unknown flag", append(produce, "--frmat", "json"), []string{"unknown flag: --frmat", "produce --help"}},
		{"no topic", []string{"produce", "--embedded"}, []string{"which topic? Add --topic name"}},
		{"no brokers", []string{"produce", "-t", "t"}, []string{"which brokers? Add --bootstrap-server host:port, or --embedded"}},
		{"two kinds of brokers", append(produce, "--bootstrap-server", "x:1"), []string{"exclude each other"}},
		{"two kinds of brokers, one as an option", append(produce, "-X", "bootstrap.servers=x:1"), []string{"--embedded and -X bootstrap.servers exclude each other"}},
		{"a wrong format", append(produce, "-f", "xml"), []string{"no format \"xml\"; the formats are lines, keyvalue and json"}},
		{"no separator", append(produce, "--key-separator", ""), []string{"--key-separator must not be empty"}},
		{"no partitions", append(produce, "--partitions", "0"), []string{"--partitions 0: a topic has at least one"}},
		{"a negative partition", append(produce, "-p", "-2"), []string{"--partition -2: partitions are numbered from 0"}},
		{"a wrong progress", append(produce, "--progress", "maybe"), []string{"want auto, always or never"}},
		{"a missing file", append(produce, missing), []string{missing, "no such file"}},
		{"a folder", append(produce, t.TempDir()), []string{"is a folder; name the files in it"}},
		{"an option without value", append(produce, "-X", "linger.ms"), []string{"-X number 1 is not key=value, such as -X linger.ms=20"}},
		{"a misspelt option", append(produce, "-X", "lingr.ms=5"), []string{"there is no option lingr.ms; did you mean linger.ms?"}},
		{"an option nobody has", append(produce, "-X", "fetch.min.bytes.of.the.consumer=5"), []string{"there is no option fetch.min.bytes.of.the.consumer; ", "config lists them all"}},
		{"a value that is no number", append(produce, "-X", "linger.ms=soon"), []string{"Invalid value soon for configuration linger.ms: Not a number of type LONG", "config --explain linger.ms"}},
		{"options that contradict", append(produce, "-X", "enable.idempotence=true", "-X", "acks=1"), []string{"Must set acks to all"}},
		{"what this version lacks", append(produce, "-X", "transactional.id=x"), []string{"transactional.id", "not supported"}},
		{"a missing options file", append(produce, "--config", missing), []string{"--config: open " + missing}},
		{"an options file without end", append(produce, "--config", "/dev/zero"), []string{"--config: /dev/zero is larger than 16 MiB"}},
		{"a bad options file", append(produce, "--config", bad), []string{"--config: " + bad + ": line 2: "}},
		{"perf with contradicting flags", []string{"perf", "--acks", "1"}, []string{"add --idempotence=false"}},
		{"perf with an argument", []string{"perf", "x"}, []string{"unknown command \"x\" for \"linger perf\""}},
		{"config of an unknown key", []string{"config", "--explain", "acsk"}, []string{"there is no option acsk; did you mean acks?"}},
		{"config that producers refuse", []string{"config", "-X", "compression.type=zip"}, []string{"Invalid value zip for configuration compression.type"}},
		{"config with a plug-in nobody has", []string{"config", "-X", "partitioner.class=com.example.Mine"}, []string{"com.example.Mine"}},
		{"a demo too short", []string{"demo", "--records", "10"}, []string{"the demo needs at least 10000"}},
		{"a demo with an unknown codec", []string{"demo", "--codec", "zip"}, []string{"compression.type"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, "never sent\n", c.args...)
			r.want(t, exitUsage)
			has(t, "stderr", r.err, append(c.want, "linger: ")...)
			if r.out != "" {
				t.Errorf("stdout: %s", r.out)
			}
		})
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	const secret = "hush-hush"
	t.Setenv("LINGER_TEST_SECRET", secret)
	properties := file(t, "client.properties", "config.providers=env\n"+
		"config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"+
		"client.rack=${env:LINGER_TEST_SECRET}\nclient.id=${env:LINGER_TEST_SECRET}\nsome.password="+secret+"\n")
	for _, args := range [][]string{
		{"produce", "--embedded", "-t", "t", "-X", "ssl.key.password=" + secret},
		{"produce", "--embedded", "-t", "t", "-X", "sasl.jaas.config=" + secret},
		{"produce", "--embedded", "-t", "t", "-X", "ssl.key.password:" + secret},
		{"produce", "--embedded", "-t", "t", "-v", "--config", properties},
		{"produce", "--embedded", "-t", "t", "--config", file(t, "bad.properties", "ssl.key.password="+secret+"\\uz")},
		{"config", "-X", "ssl.key.password=" + secret},
		{"config", "--config", properties},
		{"config", "--config", properties, "--json"},
		{"config", "--config", properties, "--explain", "client.rack"},
	} {
		r := run(t, "", args...)
		hasNot(t, args[0], r.out+r.err, secret)
	}
	r := run(t, "", "config", "--changed", "--config", properties)
	r.want(t, exitOK)
	if !regexp.MustCompile(`client\.rack +\[hidden\]  \(set by .*client\.properties\)`).MatchString(r.out) {
		t.Errorf("the option is not shown at all:\n%s", r.out)
	}
	has(t, "stderr", r.err, "some.password") // a key that nobody reads is named, its value is not
}

func TestHelpNamesEveryCommand(t *testing.T) {
	r := run(t, "")
	r.want(t, exitOK)
	has(t, "stdout", r.out, "demo", "produce", "perf", "config", "Exit status: 0 all is well")
	for _, command := range []string{"demo", "produce", "perf", "config"} {
		r := run(t, "", command, "--help")
		r.want(t, exitOK)
		has(t, "stdout", r.out, "linger "+command, "Flags:")
	}
	run(t, "", "--version").want(t, exitOK)
}

// What a command prints is its result: one that is lost is a failure, whatever happened before.
func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	for name, args := range map[string][]string{
		"produce": {"produce", "--embedded", "-t", "t"}, "config": {"config"}, "explained": {"config", "--explain", "acks"}, "help": {"--help"},
		"json": {"config", "--json"}, "version": {"--version"},
	} {
		t.Run(name, func(t *testing.T) {
			var errOut buffer
			status := execute(t.Context(), args, strings.NewReader("a\nb\n"), full{}, &errOut)
			result{status, "", errOut.String()}.want(t, exitFailed)
			has(t, "stderr", errOut.String(), "linger: standard output: no space left\n")
		})
	}
}

// full is a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }
