// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/apply.h"
#include "cli/report/points.h"
#include "cli/view/format.h"
#include "cli/view/model_view.h"

namespace frostline::cli {
namespace {

constexpr char kPlan[] = "plan";             // as GetPlanRivals calls it
constexpr char kBestTrial[] = "best trial";  // likewise
constexpr char kNoInterval[] = "nan nan nan nan nan";

absl::Status CheckExport(const v1::StudySpec& spec) {
  const std::string& kind = spec.training().head().kind();
  const bool plain = spec.tasks().empty() && (kind.empty() || kind == "linear");
  if (plain) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   "transformers has no model with such a head, or with "
                   "several, so none can be exported",
                   "leave --export out", "--export");
}

// Whatever the device: plan and search are of one precision.
void KeepPrecision(const v1::Study& searched, v1::StudySpec& spec) {
  const std::string& decided = searched.settings().auto_precision();
  const std::string& asked = spec.training().precision();
  if (decided.empty() || (!asked.empty() && asked != "auto")) return;
  spec.mutable_training()->set_precision(decided);
}

std::string AppliedLabelOf(const v1::EnqueuedTrial& trial,
                           const std::string& key) {
  const auto found = trial.labels().find(key);
  return found == trial.labels().end() ? "" : found->second;
}

// Null where no rival is at the point of `named`.
const v1::EnqueuedTrial* RivalAt(const v1::GetPlanRivalsReply& rivals,
                                 const v1::Trial& named) {
  const std::string point = PointKeyOf(named);
  for (const v1::EnqueuedTrial& trial : rivals.trials()) {
    if (PointKeyOf(trial) == point) return &trial;
  }
  return nullptr;
}

// Its labels say what it is of; predicted is what was of `same`, a rival at
// its point.
v1::EnqueuedTrial Renamed(v1::EnqueuedTrial plan, const v1::Trial& named,
                          const v1::EnqueuedTrial* same) {
  plan.clear_strategy();
  plan.clear_values();
  for (const v1::ParameterValue& value : named.parameters()) {
    (*plan.mutable_values())[value.name()] = value.value();
  }
  auto& labels = *plan.mutable_labels();
  labels["rival"] = absl::StrCat("trial ", named.number());
  for (const char* const key : {"predicted", "one_run"}) {
    labels[key] = same != nullptr ? AppliedLabelOf(*same, key) : kNoInterval;
  }
  return plan;
}

// A plan that is the best trial's point is no second rival there, and has its
// name where it is no longer the plan.
v1::EnqueuedTrial AsBestTrial(v1::EnqueuedTrial plan) {
  (*plan.mutable_labels())["rival"] = kBestTrial;
  return plan;
}

bool HasBestTrial(const v1::GetPlanRivalsReply& rivals) {
  return absl::c_any_of(rivals.trials(), [](const v1::EnqueuedTrial& trial) {
    return AppliedLabelOf(trial, "rival") == kBestTrial;
  });
}

// With `named` in the plan's place. A rival at its point is left out: it would
// be run against itself.
std::vector<v1::EnqueuedTrial> TrialsWith(
    const v1::Trial& named, const v1::GetPlanRivalsReply& rivals) {
  const v1::EnqueuedTrial* const same = RivalAt(rivals, named);
  const std::string point = PointKeyOf(named);
  const bool has_best = HasBestTrial(rivals);
  std::vector<v1::EnqueuedTrial> trials;
  for (const v1::EnqueuedTrial& trial : rivals.trials()) {
    const bool is_plan = AppliedLabelOf(trial, "rival") == kPlan;
    if (is_plan) trials.push_back(Renamed(trial, named, same));
    if (PointKeyOf(trial) == point || (is_plan && has_best)) continue;
    trials.push_back(is_plan ? AsBestTrial(trial) : trial);
  }
  for (v1::EnqueuedTrial& trial : trials) {
    (*trial.mutable_labels())["of"] = absl::StrCat(trials.size());
  }
  return trials;
}

}  // namespace

absl::StatusOr<v1::CreateStudyRequest> ApplyRequest(
    const v1::Study& searched, const v1::GetPlanRivalsReply& rivals,
    const AppliedSpec& applied) {
  v1::CreateStudyRequest request;
  request.set_study_id(applied.id);
  v1::StudySpec& spec = *request.mutable_spec();
  spec = searched.spec();
  spec.clear_enqueue();
  spec.clear_warm_start();
  spec.clear_repeat();
  KeepPrecision(searched, spec);
  if (applied.exports) {
    RETURN_IF_ERROR(CheckExport(spec));
    (*spec.mutable_training()->mutable_extra()->mutable_fields())["export"]
        .set_string_value("best");
  }
  if (applied.named == nullptr) {
    *spec.mutable_enqueue() = rivals.trials();
  } else {
    for (v1::EnqueuedTrial& trial : TrialsWith(*applied.named, rivals)) {
      *spec.add_enqueue() = std::move(trial);
    }
  }
  v1::StudySettings& settings = *request.mutable_settings();
  settings = searched.settings();
  settings.clear_auto_precision();
  settings.clear_pruner();  // baselines are to end, too
  settings.clear_max_parallel();
  settings.mutable_budget()->Clear();
  settings.mutable_budget()->set_trials(spec.enqueue_size());
  (*settings.mutable_labels())[kAppliesLabel] = LastPart(searched.name());
  return request;
}

std::string WhatIsTried(const v1::StudySpec& spec) {
  const std::string first =
      spec.enqueue().empty() ? "" : AppliedLabelOf(spec.enqueue(0), "rival");
  return first == kPlan ? "the plan" : first;
}

}  // namespace frostline::cli
