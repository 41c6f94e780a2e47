// Command nullbroker runs the broker of package nullbroker: it takes everything and keeps nothing.
//
//	go run ./bench/cmd/nullbroker -listen 127.0.0.1:9092 -partitions 6 -verify
package main
