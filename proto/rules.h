// SPDX-License-Identifier: Apache-2.0
//
// File: rules.h
//
// Checks messages by the rules that stand in the contract (rules.proto):
//
//   int32 max_leases = 4 [(rule) = {least: 1 most: 64}];
//
//   max_leases is 0: give a number from 1 to 64
//
// Errors name the field, and say what would be right. They show text of a
// message only where it is short and part of a name. Any thread may call.
#ifndef FROSTLINE_PROTO_RULES_H_
#define FROSTLINE_PROTO_RULES_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/map.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "frostline/v1/rules.pb.h"

namespace frostline::proto {

// Returns the first rule that a request breaks, in the order of its fields. A
// message that is absent is judged like an empty one.
absl::Status CheckRules(const google::protobuf::Message& request);

// Refuses a number below zero, or one that is not finite, in every present
// message, at any depth, that has the option no_negative_numbers.
absl::Status CheckNoNegativeNumbers(const google::protobuf::Message& message);

// Returns the rule of a field, for who needs its numbers. The program ends when
// the contract has no such field or the field no rule.
const v1::Rule& RuleOf(const google::protobuf::Descriptor& type,
                       const std::string& field);

// Says what a field may hold: "1 to 64", "at most 4096 bytes"; "" without a
// rule, or where the verb judges it.
std::string DescribeRule(const google::protobuf::FieldDescriptor& field);

// MostOf<v1::AcquireRequest>("max_leases") is 64.
template <typename Message>
std::int64_t MostOf(const std::string& field) {
  return static_cast<std::int64_t>(
      RuleOf(*Message::descriptor(), field).most());
}
template <typename Message>
int MaxItems(const std::string& field) {
  return static_cast<int>(RuleOf(*Message::descriptor(), field).max_items());
}
template <typename Message>
std::size_t MaxBytes(const std::string& field) {
  return static_cast<std::size_t>(
      RuleOf(*Message::descriptor(), field).max_bytes());
}

// --- the checks that rules are made of, for what no rule can say ---

inline constexpr std::size_t kMaxComparedTrials =
    128;  // of all contenders together

// Returns REQUEST_INVALID at the field.
absl::Status BadField(const std::string& field, const std::string& cause,
                      const std::string& fix);
absl::Status CheckRequestId(const std::string& id, const std::string& field);
absl::Status CheckStudyName(const std::string& name, const std::string& field);
absl::Status CheckWorkerName(const std::string& name, const std::string& field);
absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field);
// Accepts a well-formed duration from 0 to `max_seconds`.
absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field);
// These return FIELD_TOO_LARGE.
absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field);
absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field);
using Labels = google::protobuf::Map<std::string, std::string>;
absl::Status CheckTrialLabels(const Labels& labels, const std::string& field);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_RULES_H_
