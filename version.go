package linger

// Version is the library's version; brokers hear it in ApiVersions (KIP-511).
const Version = "0.1.0"
