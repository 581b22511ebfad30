// SPDX-License-Identifier: Apache-2.0
#include "server/wire/new_study.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "server/wire/space.h"

namespace frostline::server {
namespace {

// A trainer is given a trial as one line of 1 MiB at most; rates, labels and
// paths need room besides.
constexpr std::size_t kMaxTrialJsonBytes = std::size_t{512} << 10;
constexpr double kMaxGridValues = 9007199254740992.0;  // 2^53

absl::Status CheckCarriedNames(const v1::StudySpec& spec) {
  std::set<std::string> metrics;
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const std::string& metric = spec.objectives(i).metric();
    RETURN_IF_ERROR(CheckBytes(metric, kMaxMetricNameBytes,
                               absl::StrCat("objectives[", i, "].metric")));
    metrics.insert(metric);
  }
  for (const auto& each : spec.constraints()) metrics.insert(each.metric());
  if (std::cmp_greater(metrics.size(), kMaxFinalMetrics)) {
    return MakeError(
        ErrorId::kFieldTooLarge,
        absl::StrCat("objectives and constraints name ", metrics.size(),
                     " metrics, and a trial ends with ", kMaxFinalMetrics,
                     " at most"),
        "search fewer at a time", "objectives");
  }
  const v1::Training& training = spec.training();
  for (int i = 0; i < training.also_evaluate_size(); ++i) {
    RETURN_IF_ERROR(
        CheckBytes(training.also_evaluate(i), kMaxSetNameBytes,
                   absl::StrCat("training.also_evaluate[", i, "]")));
  }
  return CheckBytes(training.early_stopping().metric(), kMaxMetricNameBytes,
                    "training.early_stopping.metric");
}

// Checks that neighbours on the grid are different numbers.
absl::Status CheckGrid(const v1::FloatRange& range, const std::string& field) {
  const double step = range.step();
  const double farthest = std::max(std::abs(range.lo()), std::abs(range.hi()));
  const bool fine = farthest - step == farthest ||
                    (range.hi() - range.lo()) / step > kMaxGridValues;
  if (!(step > 0.0) || !fine) return absl::OkStatus();
  return MakeError(ErrorId::kRangeInvalid,
                   absl::StrCat("step ", step,
                                " is too small for numbers up "
                                "to ",
                                farthest),
                   "give a larger step, or none: the range is then continuous",
                   field + ".step");
}

absl::Status CheckGrids(const v1::SearchSpace& space) {
  for (int i = 0; i < space.parameters_size(); ++i) {
    RETURN_IF_ERROR(CheckGrid(space.parameters(i).float_(),
                              absl::StrCat("space.parameters[", i, "].float")));
  }
  const std::string decay = "space.layerwise_decay.";
  RETURN_IF_ERROR(CheckGrid(space.layerwise_decay().base_rate().float_(),
                            decay + "base_rate.float"));
  return CheckGrid(space.layerwise_decay().decay().float_(),
                   decay + "decay.float");
}

bool IsFinite(const google::protobuf::Value& value) {
  for (const auto& [name, field] : value.struct_value().fields()) {
    if (!IsFinite(field)) return false;
  }
  const auto& list = value.list_value().values();
  return std::isfinite(value.number_value()) &&
         std::all_of(list.begin(), list.end(), IsFinite);
}

absl::Status CheckFiniteExtra(const google::protobuf::Struct& extra) {
  for (const auto& [name, value] : extra.fields()) {
    if (IsFinite(value)) continue;
    return BadField(absl::StrCat("training.extra.", name.substr(0, 80)),
                    "has a number that is not finite",
                    "give a finite one; a trainer's JSON has no other");
  }
  return absl::OkStatus();
}

std::size_t LongestChoice(const v1::ParameterSpace& parameter) {
  std::size_t longest = 0;
  for (const auto& choice : parameter.choices().values()) {
    longest = std::max(longest, ChoiceText(choice).size());
  }
  return longest;
}

absl::Status CheckTrialLine(const v1::StudySpec& spec) {
  v1::StudySpec told = spec;
  told.clear_space();
  told.clear_enqueue();
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(told, &json);
  std::size_t bytes = json.size();
  for (const auto& each : spec.space().parameters()) {
    bytes += LongestChoice(each);
  }
  if (bytes <= kMaxTrialJsonBytes) return absl::OkStatus();
  return MakeError(
      ErrorId::kFieldTooLarge,
      absl::StrCat("a trial of this study would be ", bytes,
                   " bytes of JSON for its trainer"),
      absl::StrCat(
          "keep it within ", kMaxTrialJsonBytes,
          ": give long texts a name, and let the trainer look them up"),
      "spec");
}

}  // namespace

absl::Status CheckNewStudy(const v1::StudySpec& spec) {
  for (int i = 0; i < spec.enqueue_size(); ++i) {
    RETURN_IF_ERROR(CheckTrialLabels(spec.enqueue(i).labels(),
                                     absl::StrCat("enqueue[", i, "].labels")));
  }
  RETURN_IF_ERROR(CheckCarriedNames(spec));
  RETURN_IF_ERROR(CheckGrids(spec.space()));
  RETURN_IF_ERROR(CheckFiniteExtra(spec.training().extra()));
  return CheckTrialLine(spec);
}

}  // namespace frostline::server
