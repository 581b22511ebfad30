// SPDX-License-Identifier: Apache-2.0
#include "cli/report/points.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace frostline::cli {
namespace {

using Values = std::map<std::string, std::string>;

std::string KeyOf(const Values& values) {
  std::string key;
  for (const auto& [name, value] : values) {
    absl::StrAppend(&key, name, "=", value, "\n");
  }
  return key;
}

}  // namespace

std::string PointKeyOf(const v1::Trial& trial) {
  Values values;
  for (const v1::ParameterValue& value : trial.parameters()) {
    values[value.name()] = value.value().SerializeAsString();
  }
  return KeyOf(values);
}

std::string PointKeyOf(const v1::EnqueuedTrial& enqueued) {
  Values values;
  for (const auto& [name, value] : enqueued.values()) {
    values[name] = value.SerializeAsString();
  }
  return KeyOf(values);
}

}  // namespace frostline::cli
