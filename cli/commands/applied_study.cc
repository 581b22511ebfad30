// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/applied_study.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "cli/view/format.h"
#include "cli/view/model_view.h"

namespace frostline::cli {
namespace {

constexpr char kPlan[] = "plan";  // as GetPlanRivals calls it
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

// Its labels say what it is of; of a trial that somebody names nothing was
// predicted.
v1::EnqueuedTrial Renamed(v1::EnqueuedTrial plan, const v1::Trial& named) {
  plan.clear_strategy();
  plan.clear_values();
  for (const v1::ParameterValue& value : named.parameters()) {
    (*plan.mutable_values())[value.name()] = value.value();
  }
  auto& labels = *plan.mutable_labels();
  labels["rival"] = absl::StrCat("trial ", named.number());
  labels["predicted"] = kNoInterval;
  labels["one_run"] = kNoInterval;
  return plan;
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
  for (const v1::EnqueuedTrial& trial : rivals.trials()) {
    const auto rival = trial.labels().find("rival");
    const bool is_plan =
        rival != trial.labels().end() && rival->second == kPlan;
    *spec.add_enqueue() = is_plan && applied.named != nullptr
                              ? Renamed(trial, *applied.named)
                              : trial;
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

}  // namespace frostline::cli
