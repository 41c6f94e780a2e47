package perf

// Result is the line that a run prints.
type Result struct {
	Client       string   `json:"client"`
	Version      string   `json:"version"`
	Records      int64    `json:"records"`
	Failed       int64    `json:"failed"`
	Bytes        int64    `json:"bytes"`
	WallS        float64  `json:"wall_s"`
	UserS        float64  `json:"user_s"`
	SysS         float64  `json:"sys_s"`
	CPUNs        float64  `json:"cpu_ns_per_record"`
	RecordsPerS  float64  `json:"records_per_s"`
	MBPerS       float64  `json:"mb_per_s"`
	AllocsPerRec *float64 `json:"allocs_per_record"`
	AllocBytes   *float64 `json:"alloc_bytes_per_record"`
	MaxRSSMB     float64  `json:"max_rss_mb"`
	GCPauseMs    *float64 `json:"gc_pause_total_ms"`
	// GCPauseMaxMs is the longest pause of the measured part, by its histogram bucket's upper end.
	GCPauseMaxMs   float64 `json:"gc_pause_max_ms"`
	LatencyMs      Latency `json:"latency_ms"`
	LatencySamples int64   `json:"latency_samples"`
	Error          string  `json:"error,omitempty"`
}

// Latency is in milliseconds.
type Latency struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}
