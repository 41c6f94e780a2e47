//go:build !linux

package main

import "os/exec"

func startOn(_ int, cmd *exec.Cmd) error { return cmd.Start() }
