//go:build unix

package kafkatest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	minJava     = 17
	javaMissing = "kafkatest: real brokers need Java 17 or newer: %s. On Debian: apt-get install default-jre-headless. " +
		"`go test -short` leaves real brokers out"
)

// jvm is a Java new enough for Kafka, and the folder of Kafka's jars.
type jvm struct {
	java string
	dir  string
}

// findJVM looks for Java in JAVA_HOME, then on the PATH, and for the jars in the cache, where it puts them if need be.
func findJVM(ctx context.Context) (jvm, error) {
	java, err := exec.LookPath("java")
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java, err = exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	if err != nil {
		return jvm{}, fmt.Errorf(javaMissing, "there is none in JAVA_HOME or on the PATH")
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return jvm{}, fmt.Errorf(javaMissing, java+" -version: "+err.Error())
	}
	if major := javaMajor(string(out)); major < minJava {
		return jvm{}, fmt.Errorf(javaMissing, fmt.Sprintf("%s is Java %d", java, major))
	}
	dir, err := Install(ctx)
	return jvm{java: java, dir: dir}, err
}

var javaVersionLine = regexp.MustCompile(`version "(\d+)(?:\.(\d+))?`)

// javaMajor reads the major version out of what `java -version` prints; 0 if it can't. Java 8 called itself 1.8.
func javaMajor(out string) int {
	m := javaVersionLine.FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(m[1]) // digits
	if major == 1 && m[2] != "" {
		major, _ = strconv.Atoi(m[2]) // digits
	}
	return major
}

// broker is the command that runs one node. The flags are for many small brokers on a small machine: little heap, the
// collector without threads, and only the quick compiler, which halves the time to the first answer.
func (j jvm) broker(properties string, further []string) *exec.Cmd {
	args := append(j.flags("broker.properties", "-Xmx400m"), further...)
	return exec.Command(j.java, append(args, "kafka.Kafka", properties)...)
}

// tool runs one of Kafka's command line programs to its end and returns its standard output and its log. An error
// carries the end of both.
func (j jvm) tool(ctx context.Context, class string, args ...string) (out, said []byte, err error) {
	return j.toolWith(ctx, nil, "", class, args...)
}

// toolWith is tool with further arguments for Java and with something to read.
func (j jvm) toolWith(ctx context.Context, further []string, input, class string, args ...string) (out, said []byte, err error) {
	flags := append(j.flags("tools.properties", "-Xmx200m"), further...)
	cmd := exec.CommandContext(ctx, j.java, append(append(flags, class), args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	p, err := launch(cmd)
	if err == nil {
		<-p.done
		err = p.err
	}
	if err != nil {
		err = fmt.Errorf("kafkatest: %s %s: %w\n%s%s", class, strings.Join(args, " "), err, tail(stdout.Bytes(), 20), tail(stderr.Bytes(), 20))
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

func (j jvm) flags(logConfig, heap string) []string {
	return []string{
		heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.awt.headless=true",
		"-Dlog4j2.configurationFile=" + filepath.Join(j.dir, logConfig),
		"-cp", filepath.Join(j.dir, "lib", "*"),
	}
}

// tail returns the last lines of b.
func tail(b []byte, lines int) string {
	all := strings.SplitAfter(string(b), "\n")
	return strings.Join(all[max(0, len(all)-lines-1):], "")
}
