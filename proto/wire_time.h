// SPDX-License-Identifier: Apache-2.0
//
// File: wire_time.h
//
// Times and durations, to messages and back. Nothing overflows: a duration's
// seconds are limited to 100 years either way, and a malformed one reads as -1
// ns, which every check of a range refuses.
#ifndef FROSTLINE_PROTO_WIRE_TIME_H_
#define FROSTLINE_PROTO_WIRE_TIME_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "base/clock.h"

namespace frostline::proto {

google::protobuf::Duration DurationToProto(Duration duration);
Duration DurationFromProto(const google::protobuf::Duration& proto);

google::protobuf::Timestamp TimestampToProto(WallMicros time);
// Says whether the time is well-formed and in 1970 … 9999.
bool IsTimestamp(const google::protobuf::Timestamp& proto);
// REQUIRES: IsTimestamp(proto).
WallMicros TimestampFromProto(const google::protobuf::Timestamp& proto);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_TIME_H_
