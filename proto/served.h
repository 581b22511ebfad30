// SPDX-License-Identifier: Apache-2.0
//
// File: served.h
//
// Which parts of the contract are served. A part that is settled and has no
// code yet carries a mark that says what will serve it (served.proto):
//
//   repeated TaskSpec tasks = 17 [(not_served) = "training on several tasks"];
//
// Whoever takes a message from outside refuses it here when it uses such a
// part, so that nothing is silently ignored. Any thread may call.
#ifndef FROSTLINE_PROTO_SERVED_H_
#define FROSTLINE_PROTO_SERVED_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace frostline::proto {

// METHOD_NOT_BUILT when a marked field of the message, or of one inside it, is
// set: names the field by its path ("spec.tasks") and what will serve it.
// Costs nothing where the message's type has no marked field below it.
absl::Status CheckServed(const google::protobuf::Message& message);

// METHOD_NOT_BUILT for a call of this method, with what will serve it where
// the method says so.
absl::Status MethodNotServed(const google::protobuf::MethodDescriptor& method);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_SERVED_H_
