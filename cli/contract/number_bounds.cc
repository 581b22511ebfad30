// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/number_bounds.h"

#include <map>
#include <string>

#include "base/plain/training_table.h"
#include "study/freezing.h"
#include "study/objective.h"

namespace frostline::cli {
namespace {

const std::map<std::string, NumberBounds>& Settings() {
  static const auto* const bounds = new std::map<std::string, NumberBounds>{
      {"Budget.trials", {1, static_cast<double>(kMostBudgetTrials)}},
      {"Budget.training_seconds", {0, {}}},
      {"StudySettings.priority", {-kMostPriority, kMostPriority}},
      {"StudySettings.max_parallel", {0, {}}},
      {"LeasePolicy.max_trial_faults", {0, {}}},
      {"LeasePolicy.max_infrastructure_faults", {0, {}}},
      {"ModelRef.layers", {0, kMaxLayers}},
      {"ModelRef.heads", {0, kMaxHeads}}};
  return *bounds;
}

// Messages whose numbers have no meaning below zero; of some the table of
// training says how far they go, by the block that it calls them.
const std::map<std::string, std::string>& NeverNegative() {
  static const auto* const blocks =
      new std::map<std::string, std::string>{{"Training", ""},
                                             {"LoraSpec", "lora."},
                                             {"AdapterSpec", "adapters."},
                                             {"SmartSpec", "smart."},
                                             {"FreezeSemantics", "freeze."},
                                             {"DataRef", "data."},
                                             {"ModelRef", "model."}};
  return *blocks;
}

}  // namespace

NumberBounds BoundsOf(const google::protobuf::FieldDescriptor& field) {
  const std::string& message = field.containing_type()->name();
  const auto setting = Settings().find(message + "." + field.name());
  if (setting != Settings().end()) return setting->second;
  const auto block = NeverNegative().find(message);
  if (block == NeverNegative().end() || field.is_repeated()) return {};
  NumberBounds bounds{.least = 0.0, .most = {}};
  const SettingRow* const row = FindSetting(block->second + field.name());
  const bool has_range = row != nullptr && (row->kind == SettingKind::kWhole ||
                                            row->kind == SettingKind::kNumber);
  if (has_range && row->most < kAnyCount) bounds.most = row->most;
  return bounds;
}

}  // namespace frostline::cli
