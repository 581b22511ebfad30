// SPDX-License-Identifier: Apache-2.0
//
// What stands around a plan, for the wire.
#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "server/importance/convert_importance.h"
#include "server/importance/verify_labels.h"
#include "server/wire/space.h"

namespace frostline::server {
namespace {

// Numbers that people can read and JSON can hold.
constexpr std::uint64_t kSeedBound = 1'000'000'000;

template <typename Message>
void AddRates(const Point& point, const Space& space, Message& message) {
  for (const ModuleRate& rate : space.Rates(point)) {
    v1::ModuleRate* const out = message.add_rates();
    out->set_module(rate.module);
    out->set_rate(rate.rate);
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

}  // namespace frostline::server
