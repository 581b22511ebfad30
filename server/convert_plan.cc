// SPDX-License-Identifier: Apache-2.0
//
// A freeze plan for the wire, and what to run to verify it.
#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/ids.h"
#include "server/convert_importance.h"
#include "server/point_from_proto.h"

namespace frostline {
namespace {

v1::EnqueuedTrial TrialOf(const Point& point, const Space& space) {
  v1::EnqueuedTrial trial;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    const Parameter& parameter = space.parameters()[i];
    (*trial.mutable_values())[parameter.name] =
        ValueToProto(parameter.domain, point[i]);
  }
  (*trial.mutable_labels())["kind"] = "plan";
  return trial;
}

// `text` as one word of a POSIX shell.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The plan that was asked for, as the command line asks for it.
std::string PlanCommand(const StudyHandle& study,
                        const v1::GetPlanRequest& request) {
  const v1::ImportanceOptions& asked = request.options();
  std::string command = absl::StrCat("frostline plan ", study.id);
  const auto add_text = [&command](const char* flag, const std::string& text) {
    if (!text.empty()) absl::StrAppend(&command, " ", flag, " ", Quoted(text));
  };
  const auto add_number = [&command](const char* flag, double number) {
    if (number == 0.0) return;
    absl::StrAppend(&command, " ", flag, " ", ExactText(number));
  };
  add_text("--evaluator", asked.evaluator());
  add_text("--target", asked.target());
  if (asked.target_direction() == v1::DIRECTION_MAXIMIZE) {
    absl::StrAppend(&command, " --maximize");
  }
  add_number("--top", asked.top_quantile());
  add_text("--best-by", asked.best_by());
  add_number("--at-step", static_cast<double>(asked.at_step()));
  add_text("--filter", asked.filter());
  if (asked.seed() != 0) absl::StrAppend(&command, " --seed ", asked.seed());
  add_number("--tolerance", request.tolerance());
  return command;
}

// Trains the plan's point where the study still takes trials; else repeats the
// trial that is nearest to it, which tells how much of its score was luck. A
// study's id needs no quotes in any shell.
std::vector<std::string> CommandsFor(const StudyPlan& plan,
                                     const StudyHandle& study,
                                     const v1::GetPlanRequest& request) {
  std::vector<std::string> commands;
  if (study.running && study.budget_left > 0) {
    commands.push_back(PlanCommand(study, request) + " --enqueue");
  } else if (study.state != StudyState::kStopped &&
             !plan.supporting_trials.empty()) {
    commands.push_back(absl::StrCat("frostline trial retry ", study.id, " ",
                                    plan.supporting_trials[0]));
  }
  commands.push_back(absl::StrCat("frostline trial show ", study.id, " ",
                                  plan.best_seen_trial));
  commands.push_back(
      absl::StrCat("frostline trial list ", study.id, " --state SUCCEEDED"));
  return commands;
}

}  // namespace

std::string ExactText(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

v1::FreezePlan PlanToProto(const StudyPlan& plan, const StudyHandle& study,
                           const v1::GetPlanRequest& request) {
  const Space& space = study.checked->space;
  v1::FreezePlan proto;
  for (const PlannedModule& module : plan.modules) {
    v1::PlannedModule* const out = proto.add_modules();
    out->set_module(module.module);
    out->set_rate(module.rate);
    out->set_freeze(module.freeze);
    *out->mutable_cost_of_freezing() = IntervalToProto(module.cost_of_freezing);
    out->set_reason(module.reason);
  }
  *proto.mutable_predicted_score() = IntervalToProto(plan.predicted_score);
  *proto.mutable_best_seen_score() = IntervalToProto(plan.best_seen_score);
  proto.set_best_seen_trial(TrialNameOf(study.id, plan.best_seen_trial));
  if (std::isfinite(plan.trained_parameters_saved)) {
    proto.set_trained_parameters_known(true);
    proto.set_trained_parameters_saved(
        static_cast<std::int64_t>(std::llround(plan.trained_parameters_saved)));
  }
  proto.set_seconds_saved_share(plan.seconds_saved_share);
  for (const std::int64_t number : plan.supporting_trials) {
    proto.add_supporting_trials(TrialNameOf(study.id, number));
  }
  for (const std::string& command : CommandsFor(plan, study, request)) {
    proto.add_verify(command);
  }
  for (const ReportWarning& warning : plan.warnings) {
    *proto.add_warnings() = WarningToProto(warning, space);
  }
  *proto.mutable_as_trial() = TrialOf(plan.point, space);
  proto.set_tolerance(request.tolerance());
  return proto;
}

}  // namespace frostline
