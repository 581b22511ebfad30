// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Names the generators of stubs, so that go.sum pins them too.
package main

import (
	_ "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
	_ "google.golang.org/protobuf/cmd/protoc-gen-go"
)
