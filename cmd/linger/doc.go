// Command linger is the producer as a program: it sends lines and files, measures, and explains its options.
package main
