// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/convert.h"

namespace frostline {
namespace {

v1::Interval IntervalToProto(const Interval& interval) {
  v1::Interval proto;
  proto.set_value(interval.value);
  proto.set_lo80(interval.lo80);
  proto.set_hi80(interval.hi80);
  proto.set_lo95(interval.lo95);
  proto.set_hi95(interval.hi95);
  return proto;
}

}  // namespace

absl::StatusOr<EvaluateOptions> EvaluateOptionsOf(
    const v1::ImportanceOptions& asked, const CheckedStudy& study) {
  const auto refuse = [](const std::string& field) {
    return MakeError(ErrorId::kMethodNotBuilt,
                     absl::StrCat(field, " is not served yet"), "leave it out",
                     absl::StrCat("options.", field));
  };
  if (asked.at_step() != 0) return refuse("at_step");
  if (!asked.filter().empty()) return refuse("filter");
  if (asked.parameters_size() > 0) return refuse("parameters");
  EvaluateOptions options;
  if (!asked.evaluator().empty()) options.evaluator = asked.evaluator();
  options.target =
      asked.target().empty() ? study.objectives[0].metric : asked.target();
  if (asked.top_quantile() != 0.0) options.top_quantile = asked.top_quantile();
  options.seed = asked.seed() != 0 ? asked.seed() : study.spec.seed();
  if (asked.trees() != 0) options.trees = asked.trees();
  if (asked.bootstraps() != 0) options.bootstraps = asked.bootstraps();
  if (asked.without_intervals()) options.bootstraps = 0;
  options.pairs = !asked.without_pairs();
  return options;
}

v1::ImportanceReport ReportToProto(const Report& report, const Space& space) {
  const auto name = [&space](int i) {
    return space.parameters()[static_cast<std::size_t>(i)].name;
  };
  v1::ImportanceReport proto;
  proto.set_trials_used(report.trials_used);
  proto.set_trials_left_out(report.trials_left_out);
  for (const ParameterImportance& importance : report.parameters) {
    v1::ParameterImportance* const out = proto.add_parameters();
    out->set_parameter(name(importance.parameter));
    for (const ModuleBinding& binding : space.modules()) {
      if (binding.parameter == importance.parameter) {
        out->add_modules(binding.module);
      }
    }
    *out->mutable_main() = IntervalToProto(importance.main);
    *out->mutable_total() = IntervalToProto(importance.total);
    out->set_direction(importance.direction);
    out->set_rank(importance.rank);
    out->set_top3_probability(importance.top3_probability);
    out->set_distinguishable(importance.distinguishable);
  }
  for (const PairImportance& pair : report.pairs) {
    v1::PairImportance* const out = proto.add_pairs();
    out->set_first(name(pair.first));
    out->set_second(name(pair.second));
    *out->mutable_share() = IntervalToProto(pair.share);
  }
  *proto.mutable_unexplained() = IntervalToProto(report.unexplained);
  proto.set_out_of_bag_r2(report.out_of_bag_r2);
  proto.set_noise_variance(report.noise_variance);
  for (const ReportWarning& warning : report.warnings) {
    v1::Warning* const out = proto.add_warnings();
    out->set_code(warning.code);
    out->set_sentence(warning.sentence);
    for (const int parameter : warning.parameters) {
      out->add_parameters(name(parameter));
    }
  }
  return proto;
}

}  // namespace frostline
