// SPDX-License-Identifier: Apache-2.0
//
// File: wire_values.h
//
// How values stand in messages: times, numbers packed into bytes, and the trace
// of an attempt.
#ifndef FROSTLINE_PROTO_WIRE_VALUES_H_
#define FROSTLINE_PROTO_WIRE_VALUES_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::proto {

// Times and durations, to messages and back. Nothing overflows: a duration's
// seconds are limited to 100 years either way, and a malformed one reads as -1
// ns, which every check of a range refuses.

google::protobuf::Duration DurationToProto(Duration duration);
Duration DurationFromProto(const google::protobuf::Duration& proto);

google::protobuf::Timestamp TimestampToProto(WallMicros time);
// Says whether the time is well-formed and in 1970 … 9999.
bool IsTimestamp(const google::protobuf::Timestamp& proto);
// REQUIRES: IsTimestamp(proto).
WallMicros TimestampFromProto(const google::protobuf::Timestamp& proto);

// Reads the packed numbers of an ExampleOutcomes, the lowest byte first.

// A list of packed numbers. Borrows the bytes.
class PackedNumbers {
 public:
  PackedNumbers(const std::string& bytes, std::size_t width)
      : bytes_(bytes), width_(width) {}

  bool Holds(std::size_t count) const {
    return count > 0 && bytes_.size() == count * width_;
  }
  std::uint32_t At(std::size_t i) const {
    std::uint32_t value = 0;
    for (std::size_t b = width_; b-- > 0;) {
      value = value << 8 | static_cast<std::uint8_t>(bytes_[i * width_ + b]);
    }
    return value;
  }
  float FloatAt(std::size_t i) const { return std::bit_cast<float>(At(i)); }

 private:
  const std::string& bytes_;
  std::size_t width_;
};

// Returns how many bytes each class takes.
inline std::size_t ClassWidth(const v1::ExampleOutcomes& outcomes) {
  return outcomes.classes_size() > 255 ? 2 : 1;
}

// Returns the value of a binary16 number (IEEE 754).
float FromHalf(std::uint32_t bits);

// Returns the trace of everything that concerns one attempt: in the agent's
// log, in calls and so in the coordinator's log, and in the spans of both. It
// is computed from the lease, so that a result that the agent delivers after a
// restart belongs to it too; the lease's secret cannot be found from it. Its
// span is the attempt's.
TraceContext TraceOfAttempt(const v1::LeaseRef& lease);

// Returns the root span of that trace, which began when the trial was queued.
std::string RootSpanOfAttempt(const v1::LeaseRef& lease);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_VALUES_H_
