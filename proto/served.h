// SPDX-License-Identifier: Apache-2.0
//
// File: served.h
//
// Refuses what is settled in the contract and not served yet, so that nothing
// is silently ignored. Its mark says what will serve it (served.proto):
//
//   repeated TaskSpec tasks = 17 [(not_served) = "training on several tasks"];
//
// Threads: any.
#ifndef FROSTLINE_PROTO_SERVED_H_
#define FROSTLINE_PROTO_SERVED_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace frostline::proto {

// METHOD_NOT_BUILT when a marked field is set, at any depth: names its path
// ("spec.tasks") and what will serve it. Costs nothing where the type has no
// such field.
absl::Status CheckServed(const google::protobuf::Message& message);

// METHOD_NOT_BUILT, with what will serve it where the method says so.
absl::Status MethodNotServed(const google::protobuf::MethodDescriptor& method);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_SERVED_H_
