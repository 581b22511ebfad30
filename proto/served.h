// SPDX-License-Identifier: Apache-2.0
//
// File: served.h
//
// Refuses what the contract has and nobody serves yet. A field's mark says what
// will serve it (served.proto):
//
//   repeated TaskSpec tasks = 17 [(not_served) = "training on several tasks"];
//
// Any thread may call.
#ifndef FROSTLINE_PROTO_SERVED_H_
#define FROSTLINE_PROTO_SERVED_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace frostline::proto {

// The error is METHOD_NOT_BUILT when a marked field is set at any depth; it
// names the path ("spec.tasks") and what will serve it. Costs nothing if the
// type has no such field.
absl::Status CheckServed(const google::protobuf::Message& message);

// Returns METHOD_NOT_BUILT, with what will serve the method if its mark says
// so.
absl::Status MethodNotServed(const google::protobuf::MethodDescriptor& method);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_SERVED_H_
