// SPDX-License-Identifier: Apache-2.0
//
// A freeze plan for the wire, and the command that verifies it.
#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/ids.h"
#include "server/importance/convert_importance.h"

namespace frostline::server {
namespace {

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

v1::PlanAdvice AdviceToProto(importance::Advice advice) {
  switch (advice) {
    case importance::Advice::kFreeze:
      return v1::PLAN_ADVICE_FREEZE;
    case importance::Advice::kTrain:
      return v1::PLAN_ADVICE_TRAIN;
    case importance::Advice::kNotKnown:
      return v1::PLAN_ADVICE_NOT_KNOWN;
    case importance::Advice::kFixed:
      return v1::PLAN_ADVICE_FIXED;
  }
  return v1::PLAN_ADVICE_UNSPECIFIED;
}

void AddModules(const importance::StudyPlan& plan, v1::FreezePlan& proto) {
  for (const importance::PlannedModule& module : plan.modules) {
    v1::PlannedModule* const out = proto.add_modules();
    out->set_module(module.module);
    out->set_rate(module.rate);
    out->set_freeze(module.freeze);
    out->set_advice(AdviceToProto(module.advice));
    out->set_freeze_probability(module.freeze_probability);
    *out->mutable_cost_of_freezing() = IntervalToProto(module.cost_of_freezing);
    out->set_reason(module.reason);
  }
}

}  // namespace

std::string ExactText(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

v1::FreezePlan PlanToProto(const importance::StudyPlan& plan,
                           const StudyHandle& study,
                           const v1::GetPlanRequest& request) {
  const Space& space = study.checked->space;
  v1::FreezePlan proto;
  AddModules(plan, proto);
  proto.set_verdict(plan.verdict);
  *proto.mutable_one_run() = IntervalToProto(plan.one_run);
  proto.set_best_seen_value(plan.best_seen_value);
  proto.set_at_least_best_probability(plan.at_least_best_probability);
  proto.set_nearest_trial(TrialNameOf(study.id, plan.nearest_trial));
  proto.set_differs_in(plan.differs_in);
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
  // A stopped study takes no more trials; a complete one goes on for these.
  if (study.state != storage::StudyState::kStopped) {
    proto.add_verify(PlanCommand(study, request) + " --verify");
  }
  for (const importance::ReportWarning& warning : plan.warnings) {
    *proto.add_warnings() = WarningToProto(warning, space);
  }
  *proto.mutable_as_trial() = EnqueuedOf(plan.point, space, "plan");
  proto.set_tolerance(request.tolerance());
  return proto;
}

}  // namespace frostline::server
