// SPDX-License-Identifier: Apache-2.0
#include "cli/report/points.h"

#include <map>
#include <string>

namespace frostline::cli {
namespace {

using Values = std::map<std::string, std::string>;

Values ValuesOf(const v1::Trial& trial) {
  Values values;
  for (const v1::ParameterValue& value : trial.parameters()) {
    values[value.name()] = value.value().SerializeAsString();
  }
  return values;
}

Values ValuesOf(const v1::EnqueuedTrial& enqueued) {
  Values values;
  for (const auto& [name, value] : enqueued.values()) {
    values[name] = value.SerializeAsString();
  }
  return values;
}

}  // namespace

bool AreAtOnePoint(const v1::Trial& a, const v1::Trial& b) {
  return ValuesOf(a) == ValuesOf(b);
}

bool IsAtPointOf(const v1::EnqueuedTrial& enqueued, const v1::Trial& trial) {
  return ValuesOf(enqueued) == ValuesOf(trial);
}

}  // namespace frostline::cli
