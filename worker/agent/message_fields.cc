// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/message_fields.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "proto/served.h"
#include "proto/wire_error.h"
#include "worker/agent/json_text.h"

namespace frostline::agent {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxShownFieldBytes = 160;
constexpr std::size_t kMaxFieldTextBytes = 4096;
constexpr std::array<const char*, 5> kPhases = {
    "loading", "filling", "training", "evaluating", "saving"};
constexpr double kMostEpochs = 1e9;
constexpr double kLongestRemaining = 100.0 * 365 * 86'400;

absl::Status ReadMessage(const json& text, const char* key,
                         google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = true;
  const auto read = google::protobuf::util::JsonStringToMessage(
      PrintJsonText(text), message, options);
  if (!read.ok()) {
    return BadField(
        key, proto::CleanText(std::string(read.message()), kMaxFieldTextBytes));
  }
  const absl::Status served = proto::CheckServed(*message);
  if (!served.ok()) return BadField(key, ": " + std::string(served.message()));
  return absl::OkStatus();
}

bool IsPhase(const std::string& text) {
  return std::find(kPhases.begin(), kPhases.end(), text) != kPhases.end();
}

absl::StatusOr<double> EpochAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0.0;
  const auto number = NumberOf(*found);
  // What is not a number is in no range.
  if (number.has_value() && *number >= 0.0 && *number <= kMostEpochs) {
    return *number;
  }
  return BadField(key, "is no number from 0 to 1e9");
}

// A speed of 0, or none, makes it infinite, or nothing.
absl::StatusOr<std::optional<double>> RemainingAt(const json& object,
                                                  const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  const auto number = NumberOf(*found);
  if (!number.has_value() || *number < 0.0) {
    return BadField(key, "is no number from 0 up");
  }
  if (!std::isfinite(*number)) return std::nullopt;
  return std::min(*number, kLongestRemaining);
}

}  // namespace

absl::Status BadField(const std::string& field, const std::string& cause) {
  return MakeError(ErrorId::kTrainerProtocol, absl::StrCat(field, " ", cause),
                   "see docs/reference/trainer-protocol.md", field);
}

absl::Status CheckKeys(const json& object,
                       std::initializer_list<const char*> known) {
  for (const auto& [key, value] : object.items()) {
    const bool is_known =
        key == "type" ||
        std::any_of(known.begin(), known.end(),
                    [&key](const char* k) { return key == k; });
    if (!is_known) return BadField(key, "is no field of this message");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return BadField(key, "is no string");
  return found->get<std::string>();
}

absl::StatusOr<std::int64_t> CountAt(const json& object, const char* key,
                                     std::int64_t fallback) {
  const auto found = object.find(key);
  if (found == object.end()) {
    if (fallback < 0) return BadField(key, "is missing");
    return fallback;
  }
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const bool counts = found->is_number_unsigned() &&
                      found->get<std::uint64_t>() <= std::uint64_t{kMost};
  if (!counts) return BadField(key, "is no whole number from 0 up");
  return found->get<std::int64_t>();
}

absl::StatusOr<Metrics> MetricsAt(const json& object, std::size_t most) {
  Metrics metrics;
  const auto found = object.find("metrics");
  if (found == object.end()) return metrics;
  if (!found->is_object()) return BadField("metrics", "is no object");
  if (found->size() > most) {
    return BadField("metrics",
                    absl::StrCat("has more than ", most, " entries"));
  }
  for (const auto& [name, value] : found->items()) {
    const std::string field =
        absl::StrCat("metrics.", proto::CleanText(name, kMaxShownFieldBytes));
    if (name.empty() || name.size() > kMaxNameBytes) {
      return BadField(field, "has a name of 0 or more than 256 bytes");
    }
    const auto number = NumberOf(value);
    if (!number.has_value()) return BadField(field, "is no number");
    metrics[name] = *number;
  }
  return metrics;
}

absl::StatusOr<std::optional<ProgressMessage>> ProgressAt(const json& object) {
  bool is_said = false;
  for (const char* key : {"phase", "epoch", "total_epochs", "remaining_s"}) {
    is_said = is_said || object.contains(key);
  }
  if (!is_said) return std::nullopt;
  ProgressMessage progress;
  ASSIGN_OR_RETURN(progress.phase, TextAt(object, "phase"));
  if (object.contains("phase") && !IsPhase(progress.phase)) {
    return BadField(
        "phase", "is none of loading, filling, training, evaluating, saving");
  }
  ASSIGN_OR_RETURN(progress.epoch, EpochAt(object, "epoch"));
  ASSIGN_OR_RETURN(progress.total_epochs, EpochAt(object, "total_epochs"));
  ASSIGN_OR_RETURN(progress.remaining_s, RemainingAt(object, "remaining_s"));
  return progress;
}

absl::StatusOr<bool> MessageAt(const json& object, const char* key,
                               google::protobuf::Message* message) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  RETURN_IF_ERROR(ReadMessage(*found, key, message));
  return true;
}

absl::StatusOr<bool> ListAt(const json& object, const char* key,
                            google::protobuf::Message* message) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  if (!found->is_array()) return BadField(key, "is no list");
  json alone = json::object();
  alone[key] = *found;
  RETURN_IF_ERROR(ReadMessage(alone, key, message));
  return true;
}

}  // namespace frostline::agent
