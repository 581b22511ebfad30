// SPDX-License-Identifier: Apache-2.0
#include "server/wire/scaler_query.h"

#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "frostline/v1/worker.pb.h"
#include "proto/rules.h"
#include "server/wire/validate.h"

namespace frostline::server {
namespace {

using proto::BadField;
using proto::CheckBytes;

// Keys that KEDA reads itself; it sends all of a trigger's metadata.
constexpr std::array<std::string_view, 3> kKedaKeys = {
    "scalerAddress", "enableTLS", "unsafeSsl"};
constexpr std::size_t kMaxKeys = 16;
constexpr std::size_t kMaxNameBytes = 253;  // of anything in Kubernetes
constexpr std::size_t kMaxValueBytes = 4 * 1024;
constexpr std::size_t kMaxShownBytes = 64;

std::string FieldOf(const std::string& key) {
  return absl::StrCat("scalerMetadata.", key);
}

absl::Status CheckObjectName(const std::string& name,
                             const std::string& field) {
  if (name.empty()) {
    return BadField(field, "is missing",
                    "send the ScaledJob's name and namespace, as KEDA does");
  }
  return CheckBytes(name, kMaxNameBytes, field);
}

absl::Status TakeStudy(const std::string& text, ScalerQuery& query) {
  query.study = absl::StartsWith(text, "studies/") ? text : StudyNameOf(text);
  return proto::CheckStudyName(query.study, FieldOf("study"));
}

absl::Status TakeLabels(const std::string& text, ScalerQuery& query) {
  const std::string field = FieldOf("labels");
  const v1::Rule& rule = proto::RuleOf(*v1::Worker::descriptor(), "labels");
  const auto max_bytes = static_cast<std::size_t>(rule.max_bytes());
  for (const auto part : absl::StrSplit(text, ',')) {
    const std::vector<std::string> label =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (label.size() != 2 || label[0].empty()) {
      return BadField(field, "is not KEY=VALUE, several between commas",
                      "write what the workers get with --label: "
                      "gpu=a100,zone=b");
    }
    if (!query.labels.emplace(label[0], label[1]).second) {
      return BadField(field, "names a label twice", "name each label once");
    }
    RETURN_IF_ERROR(CheckBytes(label[0], max_bytes, field));
    RETURN_IF_ERROR(CheckBytes(label[1], max_bytes, field));
  }
  return proto::CheckCount(static_cast<std::int64_t>(query.labels.size()),
                           rule.max_items(), field);
}

absl::Status TakeSlots(const std::string& text, ScalerQuery& query) {
  if (!absl::SimpleAtoi(text, &query.slots)) {
    return BadField(FieldOf("slots"), "is no whole number",
                    "give the workers' --slots, as text: \"4\"");
  }
  return proto::CheckRange(query.slots, 1, proto::MostOf<v1::Worker>("slots"),
                           FieldOf("slots"));
}

absl::Status TakeQueryKey(const std::string& key, const std::string& value,
                          ScalerQuery& query) {
  if (key == "study") return TakeStudy(value, query);
  if (key == "labels") return TakeLabels(value, query);
  if (key == "slots") return TakeSlots(value, query);
  for (const std::string_view theirs : kKedaKeys) {
    if (key == theirs) return absl::OkStatus();
  }
  const std::string shown = key.size() <= kMaxShownBytes ? ": " + key : "";
  return BadField("scalerMetadata", "has an unknown key" + shown,
                  "take study, labels or slots");
}

}  // namespace

absl::StatusOr<ScalerQuery> ParseScalerQuery(
    const externalscaler::ScaledObjectRef& asked) {
  RETURN_IF_ERROR(CheckObjectName(asked.name(), "name"));
  RETURN_IF_ERROR(CheckObjectName(asked.namespace_(), "namespace"));
  const auto& metadata = asked.scalermetadata();
  RETURN_IF_ERROR(proto::CheckCount(static_cast<std::int64_t>(metadata.size()),
                                    kMaxKeys, "scalerMetadata"));
  // Sorted, so that of two mistakes always the same one is reported.
  const std::map<std::string, std::string> sorted(metadata.begin(),
                                                  metadata.end());
  ScalerQuery query;
  for (const auto& [name, value] : sorted) {
    const std::string key(absl::StripSuffix(name, "FromEnv"));
    if (key != name && sorted.contains(key)) {
      return BadField(FieldOf(name), "is given beside the key itself",
                      "leave one of the two out");
    }
    RETURN_IF_ERROR(CheckBytes(value, kMaxValueBytes, "scalerMetadata"));
    RETURN_IF_ERROR(TakeQueryKey(key, value, query));
  }
  return query;
}

absl::Status Validate(const externalscaler::ScaledObjectRef& request) {
  return ParseScalerQuery(request).status();
}

absl::Status Validate(const externalscaler::GetMetricsRequest& request) {
  RETURN_IF_ERROR(Validate(request.scaledobjectref()));
  if (request.metricname() == kUnclaimedTrials) return absl::OkStatus();
  return BadField(
      "metricName", "is not a metric that there is",
      absl::StrCat("ask for ", kUnclaimedTrials, ", as GetMetricSpec says"));
}

}  // namespace frostline::server
