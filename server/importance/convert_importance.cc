// SPDX-License-Identifier: Apache-2.0
#include "server/importance/convert_importance.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/ids.h"
#include "base/rng.h"
#include "frostline/v1/trial.pb.h"
#include "importance/report.h"
#include "server/wire/space.h"
#include "server/wire/spec.h"

namespace frostline::server {
namespace {

const std::string& NameIn(const Space& space, int parameter) {
  return space.parameters()[static_cast<std::size_t>(parameter)].name;
}

v1::ParameterImportance ParameterToProto(
    const importance::ParameterImportance& importance, const Space& space) {
  v1::ParameterImportance proto;
  proto.set_parameter(NameIn(space, importance.parameter));
  for (const ModuleBinding& binding : space.modules()) {
    if (binding.parameter == importance.parameter) {
      proto.add_modules(binding.module);
    }
  }
  *proto.mutable_main() = IntervalToProto(importance.main);
  *proto.mutable_total() = IntervalToProto(importance.total);
  proto.set_direction(importance.direction);
  proto.set_direction_probability(importance.direction_probability);
  proto.set_rank(importance.rank);
  proto.set_top3_probability(importance.top3_probability);
  proto.set_distinguishable(importance.distinguishable);
  return proto;
}

}  // namespace

v1::Interval IntervalToProto(const importance::Interval& interval) {
  v1::Interval proto;
  proto.set_value(interval.value);
  proto.set_lo80(interval.lo80);
  proto.set_hi80(interval.hi80);
  proto.set_lo95(interval.lo95);
  proto.set_hi95(interval.hi95);
  return proto;
}

v1::Warning WarningToProto(const importance::ReportWarning& warning,
                           const Space& space) {
  v1::Warning proto;
  proto.set_code(warning.code);
  proto.set_sentence(warning.sentence);
  for (const int parameter : warning.parameters) {
    proto.add_parameters(NameIn(space, parameter));
  }
  return proto;
}

void WarnOfStudy(const CheckedStudy& study,
                 std::vector<importance::ReportWarning>& warnings) {
  auto sentence = TestObjectiveWarning(study.spec);
  if (!sentence.has_value()) return;
  warnings.insert(warnings.begin(),
                  importance::WarnOfTestObjective(*std::move(sentence)));
}

std::int64_t PairsToProto(
    const importance::Report& report, const Space& space,
    const ParameterNames& names, std::int64_t begin, std::int64_t end,
    google::protobuf::RepeatedPtrField<v1::PairImportance>& page) {
  std::vector<bool> is_named(space.parameters().size(), names.empty());
  for (std::size_t i = 0; !names.empty() && i < is_named.size(); ++i) {
    is_named[i] = names.contains(NameIn(space, static_cast<int>(i)));
  }
  std::int64_t place = 0;
  for (const importance::PairImportance& pair : report.pairs) {
    if (!is_named[static_cast<std::size_t>(pair.first)] &&
        !is_named[static_cast<std::size_t>(pair.second)]) {
      continue;
    }
    if (begin <= place && place < end) {
      v1::PairImportance& out = *page.Add();
      out.set_first(NameIn(space, pair.first));
      out.set_second(NameIn(space, pair.second));
      *out.mutable_share() = IntervalToProto(pair.share);
      out.set_substitutes_probability(pair.substitutes_probability);
    }
    ++place;
  }
  return place;
}

v1::ImportanceReport ReportToProto(const importance::Report& report,
                                   const Space& space) {
  v1::ImportanceReport proto;
  proto.set_trials_used(report.trials_used);
  proto.set_trials_left_out(report.trials_left_out);
  for (const int i : importance::DepthOrder(space)) {
    *proto.add_parameters() =
        ParameterToProto(report.parameters[static_cast<std::size_t>(i)], space);
  }
  for (const importance::GroupImportance& group : report.groups) {
    v1::GroupImportance* const out = proto.add_groups();
    out->set_group(group.group);
    *out->mutable_share() = IntervalToProto(group.share);
  }
  for (const importance::SubsetImportance& subset : report.subsets) {
    v1::SubsetImportance* const out = proto.add_subsets();
    for (const int i : subset.parameters) out->add_parameters(NameIn(space, i));
    *out->mutable_together() = IntervalToProto(subset.together);
    *out->mutable_beyond() = IntervalToProto(subset.beyond);
  }
  *proto.mutable_unexplained() = IntervalToProto(report.unexplained);
  proto.set_out_of_bag_r2(report.out_of_bag_r2);
  for (const auto& [name, weight] : report.carried_by) {
    (*proto.mutable_estimator_weights())[name] = weight;
  }
  proto.set_noise_variance(report.noise_variance);
  proto.set_noise_share(report.noise_share);
  for (const importance::ReportWarning& warning : report.warnings) {
    *proto.add_warnings() = WarningToProto(warning, space);
  }
  return proto;
}

v1::StabilityVerdict VerdictToProto(
    const importance::StabilityVerdict& verdict) {
  v1::StabilityVerdict proto;
  switch (verdict.state) {
    case importance::StabilityState::kSettled:
      proto.set_state(v1::StabilityVerdict::SETTLED);
      break;
    case importance::StabilityState::kNotSettled:
      proto.set_state(v1::StabilityVerdict::NOT_SETTLED);
      break;
    case importance::StabilityState::kTooFewTrials:
      proto.set_state(v1::StabilityVerdict::TOO_FEW_TRIALS);
      break;
  }
  proto.set_sentence(verdict.sentence);
  proto.set_settled_after(verdict.settled_after);
  proto.set_more_trials(verdict.more_trials);
  *proto.mutable_half_tau() = IntervalToProto(verdict.half_tau);
  return proto;
}

v1::GetStabilityReply StabilityToProto(const importance::Stability& stability,
                                       const Space& space) {
  v1::GetStabilityReply proto;
  *proto.mutable_verdict() = VerdictToProto(stability.verdict);
  const std::vector<int> order = importance::DepthOrder(space);
  for (const importance::StabilityPoint& point : stability.points) {
    v1::StabilityPoint* const out = proto.add_points();
    out->set_trials(point.trials);
    out->set_tau_to_final(point.tau_to_final);
    for (const int i : order) {
      *out->add_parameters() = ParameterToProto(
          point.parameters[static_cast<std::size_t>(i)], space);
    }
  }
  return proto;
}

v1::StudyComparison ComparisonToProto(const importance::Comparison& comparison,
                                      const Space& first) {
  v1::StudyComparison proto;
  *proto.mutable_rank_agreement() = IntervalToProto(comparison.rank_agreement);
  std::map<std::string, const importance::ParameterShift*> shifts;
  for (const importance::ParameterShift& shift : comparison.shifts) {
    shifts[shift.parameter] = &shift;
  }
  for (const int parameter : importance::DepthOrder(first)) {
    const auto found = shifts.find(NameIn(first, parameter));
    if (found == shifts.end()) continue;
    const importance::ParameterShift& shift = *found->second;
    proto.add_shared_parameters(shift.parameter);
    auto* const out = proto.add_shifts();
    out->set_parameter(shift.parameter);
    *out->mutable_first_share() = IntervalToProto(shift.first);
    *out->mutable_second_share() = IntervalToProto(shift.second);
    out->set_distinguishable(shift.distinguishable);
  }
  for (const std::string& name : comparison.only_first) {
    proto.add_only_first(name);
  }
  for (const std::string& name : comparison.only_second) {
    proto.add_only_second(name);
  }
  proto.set_sentence(comparison.sentence);
  return proto;
}

// Curves, tables, and the answers of which only some parameters are wanted.

namespace {

const Parameter& In(const Space& space, int parameter) {
  return space.parameters()[static_cast<std::size_t>(parameter)];
}

// Removes those elements of a repeated field for which `goes` holds.
template <typename Field, typename Goes>
void RemoveIf(Field& field, Goes goes) {
  field.erase(std::remove_if(field.begin(), field.end(), goes), field.end());
}

}  // namespace

v1::GetMarginalsReply CurvesToProto(
    const std::vector<importance::MarginalCurve>& curves, const Space& space) {
  v1::GetMarginalsReply reply;
  for (const int i : importance::DepthOrder(space)) {
    const importance::MarginalCurve& curve =
        curves[static_cast<std::size_t>(i)];
    const Parameter& parameter = In(space, curve.parameter);
    v1::Marginal* const marginal = reply.add_marginals();
    marginal->set_parameter(parameter.name);
    *marginal->mutable_best() = ValueToProto(parameter.domain, curve.best);
    for (const importance::CurvePoint& point : curve.points) {
      v1::MarginalPoint* const out = marginal->add_points();
      *out->mutable_value() = ValueToProto(parameter.domain, point.value);
      *out->mutable_expected() = IntervalToProto(point.expected);
      out->set_trials(point.trials);
    }
  }
  return reply;
}

v1::PairMarginal TableToProto(const importance::MarginalTable& table,
                              const Space& space) {
  const Parameter& first = In(space, table.first);
  const Parameter& second = In(space, table.second);
  v1::PairMarginal proto;
  proto.set_first(first.name);
  proto.set_second(second.name);
  for (const double value : table.first_values) {
    *proto.add_first_values() = ValueToProto(first.domain, value);
  }
  for (const double value : table.second_values) {
    *proto.add_second_values() = ValueToProto(second.domain, value);
  }
  proto.mutable_expected()->Assign(table.expected.begin(),
                                   table.expected.end());
  proto.mutable_trials()->Assign(table.trials.begin(), table.trials.end());
  return proto;
}

void KeepNamed(const ParameterNames& names, v1::ImportanceReport& report) {
  if (names.empty()) return;
  RemoveIf(*report.mutable_parameters(), [&names](const auto& importance) {
    return !names.contains(importance.parameter());
  });
  RemoveIf(*report.mutable_tunability(), [&names](const auto& tuned) {
    return !names.contains(tuned.parameter());
  });
}

void KeepNamed(const ParameterNames& names, v1::GetStabilityReply& reply) {
  if (names.empty()) return;
  for (v1::StabilityPoint& point : *reply.mutable_points()) {
    RemoveIf(*point.mutable_parameters(), [&names](const auto& importance) {
      return !names.contains(importance.parameter());
    });
  }
}

void KeepNamed(const ParameterNames& names, v1::GetMarginalsReply& reply) {
  if (names.empty()) return;
  RemoveIf(*reply.mutable_marginals(), [&names](const auto& marginal) {
    return !names.contains(marginal.parameter());
  });
}

void KeepNamed(const ParameterNames& names, v1::StudyComparison& comparison) {
  if (names.empty()) return;
  RemoveIf(*comparison.mutable_shifts(), [&names](const auto& shift) {
    return !names.contains(shift.parameter());
  });
}

// A freeze plan for the wire, and the command that verifies it.

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
    if (module.rank.has_value()) out->set_rank(*module.rank);
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
  proto.set_tolerance(plan.tolerance);
  return proto;
}

// What stands around a plan, for the wire.

namespace {

// Numbers that people can read and JSON can hold.
constexpr std::uint64_t kSeedBound = 1'000'000'000;

template <typename Message>
void AddRates(const Point& point, const Space& space, Message& message) {
  for (const ModuleRate& rate : space.Rates(point)) {
    v1::ModuleRate* const out = message.add_rates();
    out->set_module(rate.module);
    out->set_rate(rate.rate);
    if (rate.rank.has_value()) out->set_rank(*rate.rank);
  }
}

v1::FrontierSet SetToProto(const importance::FrontierSet& set,
                           const Space& space) {
  v1::FrontierSet proto;
  for (const std::string& module : set.trained) proto.add_trained(module);
  proto.set_prefix_frozen(set.prefix_frozen);
  *proto.mutable_as_trial() = EnqueuedOf(set.point, space, "frontier");
  proto.set_trained_parameters(set.trained_parameters);
  proto.set_seconds(set.seconds);
  *proto.mutable_predicted() = IntervalToProto(set.predicted);
  proto.set_within_tolerance_probability(set.within_tolerance_probability);
  proto.set_trials(set.trials);
  return proto;
}

v1::PlanRival RivalToProto(const importance::Rival& rival, const Space& space) {
  v1::PlanRival proto;
  proto.set_name(rival.name);
  *proto.mutable_as_trial() = EnqueuedOf(rival.point, space, "rival");
  AddRates(rival.point, space, proto);
  *proto.mutable_predicted() = IntervalToProto(rival.predicted);
  *proto.mutable_one_run() = IntervalToProto(rival.one_run);
  return proto;
}

// What the rivals of one plan are run with, and none of another.
std::vector<std::uint64_t> PairedSeeds(const StudyHandle& study,
                                       std::int64_t revision, int count) {
  Rng rng(study.checked->spec.seed(), static_cast<std::uint64_t>(revision));
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(1 + rng.Below(kSeedBound));
  return seeds;
}

}  // namespace

v1::EnqueuedTrial EnqueuedOf(const Point& point, const Space& space,
                             const std::string& kind) {
  v1::EnqueuedTrial trial;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    const Parameter& parameter = space.parameters()[i];
    (*trial.mutable_values())[parameter.name] =
        ValueToProto(parameter.domain, point[i]);
  }
  (*trial.mutable_labels())["kind"] = kind;
  return trial;
}

v1::Frontier FrontierToProto(const importance::Frontier& frontier,
                             const Space& space) {
  v1::Frontier proto;
  proto.set_tolerance(frontier.tolerance);
  *proto.mutable_best() = IntervalToProto(frontier.best);
  for (const importance::FrontierSet& set : frontier.by_modules) {
    *proto.add_by_modules() = SetToProto(set, space);
  }
  for (const importance::FrontierSet& set : frontier.by_prefix) {
    *proto.add_by_prefix() = SetToProto(set, space);
  }
  proto.set_chosen(frontier.chosen);
  proto.set_verdict(frontier.verdict);
  for (const importance::ReportWarning& warning : frontier.warnings) {
    *proto.add_warnings() = WarningToProto(warning, space);
  }
  return proto;
}

namespace {

// The modules that take their rate from a parameter, in depth order.
template <typename Message>
void AddModulesOf(std::size_t parameter, const Space& space, Message& proto) {
  for (const std::size_t m : importance::ModulesInDepthOrder(space)) {
    const ModuleBinding& module = space.modules()[m];
    if (module.parameter == static_cast<int>(parameter)) {
      proto.add_modules(module.module);
    }
  }
}

// Null where the point lacks it.
google::protobuf::Value ValueOrNull(const Domain& domain, double value) {
  if (!IsAbsent(value)) return ValueToProto(domain, value);
  google::protobuf::Value null;
  null.set_null_value(google::protobuf::NULL_VALUE);
  return null;
}

const Point& PointOfTrial(const importance::StudyBelief& belief,
                          std::int64_t number) {
  std::size_t t = 0;
  while (belief.NumberOf(t) != number) ++t;
  return *belief.selection().points[t];
}

}  // namespace

v1::DifferenceExplanation DifferenceToProto(
    const importance::Difference& difference, const Space& space,
    const importance::StudyBelief& belief, const TwoTrials& trials) {
  v1::DifferenceExplanation proto;
  proto.set_first_value(difference.first_value);
  proto.set_second_value(difference.second_value);
  proto.set_seen(difference.seen);
  *proto.mutable_predicted() = IntervalToProto(difference.predicted);
  *proto.mutable_luck() = IntervalToProto(difference.luck);
  proto.set_run_noise(difference.run_noise);
  const Point& first = PointOfTrial(belief, trials.first);
  const Point& second = PointOfTrial(belief, trials.second);
  for (const importance::DifferencePart& part : difference.parts) {
    v1::DifferencePart* const out = proto.add_parts();
    for (const std::size_t i : part.parameters) {
      const Parameter& parameter = space.parameters()[i];
      out->add_parameters(parameter.name);
      AddModulesOf(i, space, *out);
      *out->add_first_values() = ValueOrNull(parameter.domain, first[i]);
      *out->add_second_values() = ValueOrNull(parameter.domain, second[i]);
    }
    *out->mutable_part() = IntervalToProto(part.part);
    out->set_sign_probability(part.sign_probability);
  }
  proto.set_verdict(difference.verdict);
  for (const importance::ReportWarning& warning : difference.warnings) {
    *proto.add_warnings() = WarningToProto(warning, space);
  }
  return proto;
}

v1::Tunability TunabilityToProto(const importance::TunedParameter& tuned,
                                 const Space& space) {
  const Parameter& parameter = space.parameters()[tuned.parameter];
  v1::Tunability proto;
  proto.set_parameter(parameter.name);
  AddModulesOf(tuned.parameter, space, proto);
  *proto.mutable_default_value() =
      ValueToProto(parameter.domain, tuned.default_value);
  *proto.mutable_best_value() =
      ValueToProto(parameter.domain, tuned.best_value);
  *proto.mutable_gain() = IntervalToProto(tuned.gain);
  proto.set_gain_probability(tuned.gain_probability);
  return proto;
}

v1::AskedTrial AskedToProto(const importance::AskedTrial& asked,
                            const Space& space) {
  v1::AskedTrial proto;
  *proto.mutable_as_trial() = EnqueuedOf(asked.point, space, "asked");
  AddRates(asked.point, space, proto);
  proto.set_expected_reduction(asked.expected_reduction);
  proto.set_reason(asked.reason);
  return proto;
}

v1::GetPlanRivalsReply RivalsToProto(
    const std::vector<importance::Rival>& rivals, const StudyHandle& study,
    const Objective& objective, std::int64_t revision, int seeds) {
  v1::GetPlanRivalsReply reply;
  for (const importance::Rival& rival : rivals) {
    *reply.add_rivals() = RivalToProto(rival, study.checked->space);
  }
  for (const std::uint64_t seed : PairedSeeds(study, revision, seeds)) {
    for (std::size_t r = 0; r < rivals.size(); ++r) {
      v1::EnqueuedTrial* const trial = reply.add_trials();
      *trial = reply.rivals(static_cast<int>(r)).as_trial();
      MarkToVerify({.batch = absl::StrCat("r", revision),
                    .rival = rivals[r].name,
                    .objective = objective,
                    .total = static_cast<std::int64_t>(rivals.size()) * seeds,
                    .seed = seed,
                    .predicted = rivals[r].predicted,
                    .one_run = rivals[r].one_run},
                   *trial);
    }
  }
  return reply;
}

namespace {

constexpr char kKind[] = "kind";
constexpr char kVerify[] = "verify";  // also the kind
constexpr char kMaximize[] = "maximize";

std::string LabelOf(const v1::Trial& trial, const std::string& key) {
  const auto found = trial.labels().find(key);
  return found == trial.labels().end() ? "" : found->second;
}

}  // namespace

std::string IntervalText(const importance::Interval& interval) {
  return absl::StrCat(ExactText(interval.value), " ", ExactText(interval.lo80),
                      " ", ExactText(interval.hi80), " ",
                      ExactText(interval.lo95), " ", ExactText(interval.hi95));
}

std::optional<importance::Interval> IntervalFromText(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  std::array<double, 5> ends{};
  if (words.size() != ends.size()) return std::nullopt;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!absl::SimpleAtod(words[i], &ends[i])) return std::nullopt;
  }
  return importance::Interval{ends[0], ends[1], ends[2], ends[3], ends[4]};
}

void MarkToVerify(const VerifyMark& mark, v1::EnqueuedTrial& trial) {
  trial.set_seed(mark.seed);
  auto& labels = *trial.mutable_labels();
  labels[kKind] = kVerify;
  labels[kVerify] = mark.batch;
  labels["rival"] = mark.rival;
  labels["target"] = mark.objective.metric;
  labels["goal"] =
      mark.objective.direction == Direction::kMaximize ? kMaximize : "minimize";
  labels["of"] = absl::StrCat(mark.total);
  labels["predicted"] = IntervalText(mark.predicted);
  labels["one_run"] = IntervalText(mark.one_run);
}

std::optional<VerifyMark> VerifyMarkOf(const storage::TrialRow& row) {
  v1::Trial trial;
  trial.ParseFromString(row.labels);
  if (LabelOf(trial, kKind) != kVerify) return std::nullopt;
  VerifyMark mark;
  mark.batch = LabelOf(trial, kVerify);
  mark.rival = LabelOf(trial, "rival");
  mark.objective = {LabelOf(trial, "target"),
                    LabelOf(trial, "goal") == kMaximize ? Direction::kMaximize
                                                        : Direction::kMinimize};
  const auto predicted = IntervalFromText(LabelOf(trial, "predicted"));
  const auto one_run = IntervalFromText(LabelOf(trial, "one_run"));
  if (mark.batch.empty() || mark.rival.empty() ||
      mark.objective.metric.empty() || !predicted.has_value() ||
      !one_run.has_value() ||
      !absl::SimpleAtoi(LabelOf(trial, "of"), &mark.total)) {
    return std::nullopt;
  }
  mark.seed = trial.seed();
  mark.predicted = *predicted;
  mark.one_run = *one_run;
  return mark;
}

}  // namespace frostline::server
