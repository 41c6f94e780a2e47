package config

import (
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each entry: the default, as its field has it; the least value accepted, and that it is accepted; the error below it.
func TestNumbersHaveTheirDefaultAndTheirRange(t *testing.T) {
	const any = math.MinInt64 // no lower limit but the type's
	tests := []struct {
		key   string
		field func(*Config) int64
		value int64
		least int64
	}{
		// CFG-06
		{"batch.size", func(c *Config) int64 { return int64(c.BatchSize) }, 16384, 0},
		// CFG-07
		{"linger.ms", func(c *Config) int64 { return c.LingerMs }, 5, 0},
		// CFG-08
		{"buffer.memory", func(c *Config) int64 { return c.BufferMemory }, 33554432, 0},
		// CFG-09
		{"max.block.ms", func(c *Config) int64 { return c.MaxBlockMs }, 60000, 0},
		// CFG-10
		{"max.request.size", func(c *Config) int64 { return int64(c.MaxRequestSize) }, 1048576, 0},
		// CFG-15
		{"retries", func(c *Config) int64 { return int64(c.Retries) }, 2147483647, 0},
		// CFG-16
		{"delivery.timeout.ms", func(c *Config) int64 { return c.DeliveryTimeoutMs }, 120000, 0},
		// CFG-17
		{"request.timeout.ms", func(c *Config) int64 { return c.RequestTimeoutMs }, 30000, 0},
		// CFG-18
		{"retry.backoff.ms", func(c *Config) int64 { return c.RetryBackoffMs }, 100, 0},
		// CFG-19
		{"retry.backoff.max.ms", func(c *Config) int64 { return c.RetryBackoffMaxMs }, 1000, 0},
		// CFG-21
		{"max.in.flight.requests.per.connection", func(c *Config) int64 { return int64(c.MaxInFlight) }, 5, 1},
		// CFG-35
		{"partitioner.availability.timeout.ms", func(c *Config) int64 { return c.AvailabilityTimeoutMs }, 0, 0},
		// CFG-44
		{"transaction.timeout.ms", func(c *Config) int64 { return c.TransactionTimeoutMs }, 60000, any},
		// CFG-48
		{"send.buffer.bytes", func(c *Config) int64 { return int64(c.SendBufferBytes) }, 131072, -1},
		// CFG-49
		{"receive.buffer.bytes", func(c *Config) int64 { return int64(c.ReceiveBufferBytes) }, 32768, -1},
		// CFG-50
		{"connections.max.idle.ms", func(c *Config) int64 { return c.ConnectionsMaxIdleMs }, 540000, any},
		// CFG-51
		{"socket.connection.setup.timeout.ms", func(c *Config) int64 { return c.SocketSetupTimeoutMs }, 10000, any},
		// CFG-52
		{"socket.connection.setup.timeout.max.ms", func(c *Config) int64 { return c.SocketSetupTimeoutMaxMs }, 30000, any},
		// CFG-53
		{"reconnect.backoff.ms", func(c *Config) int64 { return c.ReconnectBackoffMs }, 50, 0},
		// CFG-54
		{"reconnect.backoff.max.ms", func(c *Config) int64 { return c.ReconnectBackoffMaxMs }, 1000, 0},
		// CFG-56
		{"metadata.max.age.ms", func(c *Config) int64 { return c.MetadataMaxAgeMs }, 300000, 0},
		// CFG-57
		{"metadata.max.idle.ms", func(c *Config) int64 { return c.MetadataMaxIdleMs }, 300000, 5000},
		// CFG-59
		{"metadata.recovery.rebootstrap.trigger.ms", func(c *Config) int64 { return c.RebootstrapTriggerMs }, 300000, 0},
		// CFG-60
		{"metrics.sample.window.ms", func(c *Config) int64 { return c.MetricsSampleWindowMs }, 30000, 0},
		// CFG-61
		{"metrics.num.samples", func(c *Config) int64 { return int64(c.MetricsNumSamples) }, 2, 1},
		// CFG-73
		{"bootstrap.resolve.timeout.ms", func(c *Config) int64 { return c.BootstrapResolveTimeoutMs }, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.key, func(t *testing.T) {
			if got := tt.field(accept(t)); got != tt.value {
				t.Errorf("default %d, want %d", got, tt.value)
			}
			if got := tt.field(accept(t, "enable.idempotence=false", "request.timeout.ms=1", tt.key+"=29001")); got != 29001 {
				t.Errorf("29001 became %d", got)
			}
			if tt.least == any {
				accept(t, tt.key+"=-1")
				return
			}
			k, _ := Lookup(tt.key)
			if v, err := merge(given(tt.key+"="+strconv.FormatInt(tt.least, 10)), Outside{}).parseKey(k); err != nil || v != tt.least {
				t.Errorf("the least value %d: %v %v", tt.least, v, err)
			}
			below := strconv.FormatInt(tt.least-1, 10)
			refuse(t, "Invalid value "+below+" for configuration "+tt.key+": Value must be at least "+
				strconv.FormatInt(tt.least, 10), tt.key+"="+below)
		})
	}
}

func TestOtherOptionsHaveTheirDefault(t *testing.T) {
	c := accept(t)
	tests := []struct {
		key       string
		got, want any
	}{
		{"acks", c.Acks, int16(-1)},                                           // CFG-11
		{"enable.idempotence", c.EnableIdempotence, true},                     // CFG-14
		{"partitioner.class", c.PartitionerClass, ""},                         // CFG-33
		{"partitioner.adaptive.partitioning.enable", c.Adaptive, true},        // CFG-34
		{"partitioner.ignore.keys", c.IgnoreKeys, false},                      // CFG-36
		{"compression.type", c.Compression, "none"},                           // CFG-39
		{"transactional.id", c.HasTransactionalID, false},                     // CFG-43
		{"transaction.two.phase.commit.enable", c.TwoPhaseCommit, false},      // CFG-45
		{"client.dns.lookup", c.DNSLookup, "use_all_dns_ips"},                 // CFG-55
		{"metadata.recovery.strategy", c.Rebootstrap, true},                   // CFG-58
		{"metrics.recording.level", c.MetricsRecordingLevel, "INFO"},          // CFG-62
		{"enable.metrics.push", c.EnableMetricsPush, true},                    // CFG-63
		{"interceptor.classes", c.InterceptorClasses, []string{}},             // CFG-68
		{"security.protocol", c.SecurityProtocol, "PLAINTEXT"},                // CFG-69
		{"client.rack", c.ClientRack, ""},                                     // CFG-73
		{"buffer.memory.allocation.strategy", c.IncrementalAllocation, false}, // CFG-73
		{"partitioner.rack.aware", c.RackAware, false},                        // CFG-73
	}
	for _, tt := range tests {
		t.Run(tt.key, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	// CFG-70, CFG-71
	for key, want := range map[string]any{"security.providers": nil, "config.providers": []string{}} {
		if got, ok := c.Get(key); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: default %v, want %v", key, got, want)
		}
	}
	if len(c.Warnings()) > 0 {
		t.Errorf("a configuration with brokers only is warned of: %q", c.Warnings())
	}
}

func TestWordsAreWhatTheListSays(t *testing.T) {
	tests := map[string]struct {
		set  string
		want func(*Config) bool
	}{
		// CFG-58
		"none as recovery in any letter case": {"metadata.recovery.strategy=NoNe", func(c *Config) bool { return !c.Rebootstrap }},
		// CFG-55
		"the other way to look names up": {"client.dns.lookup=resolve_canonical_bootstrap_servers_only", func(c *Config) bool { return c.DNSLookup == "resolve_canonical_bootstrap_servers_only" }},
		// CFG-39
		"zstd": {"compression.type=zstd", func(c *Config) bool { return c.Compression == "zstd" && c.CompressionLevel == 3 }},
		// CFG-73
		"incremental allocation in any letter case": {"buffer.memory.allocation.strategy=Incremental", func(c *Config) bool { return c.IncrementalAllocation }},
		// CFG-69
		"plain text in small letters": {"security.protocol=plaintext", func(c *Config) bool { return c.SecurityProtocol == "PLAINTEXT" }},
		// CFG-68
		"interceptors in the order of the list": {"interceptor.classes=b , a", func(c *Config) bool { return cmp.Equal(c.InterceptorClasses, []string{"b", "a"}) }},
		// CFG-62
		"a level of metrics": {"metrics.recording.level=TRACE", func(c *Config) bool { return c.MetricsRecordingLevel == "TRACE" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if c := accept(t, tt.set); !tt.want(c) {
				t.Errorf("%+v", c.Values)
			}
		})
	}
	// CFG-39, CFG-55, CFG-62
	refuse(t, "Invalid value GZIP for configuration compression.type: String must be one of: none, gzip, snappy, lz4, zstd",
		"compression.type=GZIP")
	refuse(t, "Invalid value Use_all_dns_ips for configuration client.dns.lookup: String must be one of: "+
		"use_all_dns_ips, resolve_canonical_bootstrap_servers_only", "client.dns.lookup=Use_all_dns_ips")
	refuse(t, "Invalid value debug for configuration metrics.recording.level: String must be one of: INFO, DEBUG, TRACE",
		"metrics.recording.level=debug")
}

func TestCompressionLevelsHaveTheirRangeAndTheirCodec(t *testing.T) {
	for _, tt := range []struct {
		codec           string
		level, min, max int
		refused         string
	}{
		{"gzip", -1, 1, 9, "Value must be between 1 and 9 or equal to -1"}, // CFG-40
		{"lz4", 9, 1, 17, "Value must be at least 1"},                      // CFG-41
		{"zstd", 3, -131072, 22, "Value must be at least -131072"},         // CFG-42
	} {
		key, codec := "compression."+tt.codec+".level", "compression.type="+tt.codec
		if c := accept(t, codec); !c.HasCompressionLevel || c.CompressionLevel != tt.level {
			t.Errorf("%s: default %d", key, c.CompressionLevel)
		}
		for _, n := range []int{tt.min, tt.max} {
			if c := accept(t, codec, key+"="+strconv.Itoa(n)); c.CompressionLevel != n {
				t.Errorf("%s: %d became %d", key, n, c.CompressionLevel)
			}
		}
		below := strconv.Itoa(tt.min - 1)
		refuse(t, "Invalid value "+below+" for configuration "+key+": "+tt.refused, key+"="+below)
		if _, err := Parse(given(key + "=" + strconv.Itoa(tt.max+1))); err == nil {
			t.Errorf("%s: %d accepted", key, tt.max+1)
		}
		if c := accept(t, "compression.type=snappy", key+"="+strconv.Itoa(tt.max)); c.HasCompressionLevel {
			t.Errorf("%s is used with snappy", key)
		}
	}
}
