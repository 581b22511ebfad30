// SPDX-License-Identifier: Apache-2.0
#include "server/importance/convert_importance.h"

#include <map>
#include <utility>

#include "importance/measure/depth.h"
#include "importance/report.h"
#include "server/wire/test_objective.h"

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

v1::ImportanceReport ReportToProto(const importance::Report& report,
                                   const Space& space) {
  v1::ImportanceReport proto;
  proto.set_trials_used(report.trials_used);
  proto.set_trials_left_out(report.trials_left_out);
  for (const int i : importance::DepthOrder(space)) {
    *proto.add_parameters() =
        ParameterToProto(report.parameters[static_cast<std::size_t>(i)], space);
  }
  for (const importance::PairImportance& pair : report.pairs) {
    v1::PairImportance* const out = proto.add_pairs();
    out->set_first(NameIn(space, pair.first));
    out->set_second(NameIn(space, pair.second));
    *out->mutable_share() = IntervalToProto(pair.share);
    out->set_substitutes_probability(pair.substitutes_probability);
  }
  proto.set_total_pairs(proto.pairs_size());
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

}  // namespace frostline::server
