// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/pruner.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "sampler/pruner/percentile.h"
#include "sampler/pruner/rungs.h"
#include "sampler/pruner/wilcoxon.h"
#include "sampler/sampler.h"

namespace frostline::sampler {
namespace {

struct PrunerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Pruner>> (*make)(const PrunerSpec& spec,
                                                  const Objective& objective);
};

// Sorted by name. A new pruner is one row here and one pair of files.
constexpr std::array kPruners = {
    PrunerKind{"asha", MakeAshaPruner},
    PrunerKind{"hyperband", MakeHyperbandPruner},
    PrunerKind{"median", MakeMedianPruner},
    PrunerKind{"none", MakeNoPruner},
    PrunerKind{"patient", MakePatientPruner},
    PrunerKind{"percentile", MakePercentilePruner},
    PrunerKind{"threshold", MakeThresholdPruner},
    PrunerKind{"wilcoxon", MakeWilcoxonPruner},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakePruner(
    const PrunerSpec& spec, const std::vector<Objective>& objectives) {
  for (const PrunerKind& kind : kPruners) {
    if (spec.name != kind.name) continue;
    if (objectives.size() > 1 && spec.name != "none") {
      return MakeError(ErrorId::kPrunerInvalid,
                       absl::StrCat("pruner ", spec.name,
                                    " compares one metric, but there "
                                    "are ",
                                    objectives.size(), " objectives"),
                       "leave the pruner out, or search by one objective",
                       "pruner.name");
    }
    return kind.make(spec, objectives[0]);
  }
  return UnknownName(ErrorId::kPrunerInvalid, "pruner", spec.name,
                     PrunerNames(), "pruner.name");
}

std::vector<std::string> PrunerNames() {
  std::vector<std::string> names;
  for (const PrunerKind& kind : kPruners) names.push_back(kind.name);
  return names;
}

namespace {

class NoPruner final : public Pruner {
 public:
  PruneDecision Judge(const History& /*history*/,
                      std::int64_t /*trial*/) override {
    return {};
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeNoPruner(
    const PrunerSpec& spec, const Objective& /*objective*/) {
  const OptionReader reader(ErrorId::kPrunerInvalid, "pruner none", spec.field,
                            spec.options);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<NoPruner>();
}

namespace {

struct ThresholdOptions {
  double lower = 0.0;
  double upper = 0.0;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
};

class ThresholdPruner final : public Pruner {
 public:
  ThresholdPruner(const ThresholdOptions& options, std::string metric)
      : options_(options), metric_(std::move(metric)) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() ||
        !IsDue(trial->intermediate, options_.warmup_steps, options_.interval)) {
      return {};
    }
    const auto [step, value] = trial->intermediate.back();
    if (value >= options_.lower && value <= options_.upper) return {};
    return {true,
            absl::StrFormat("%s at step %d is %g, allowed is %g to %g", metric_,
                            step, value, options_.lower, options_.upper)};
  }

 private:
  ThresholdOptions options_;
  std::string metric_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeThresholdPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner threshold", spec.field,
                      spec.options);
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::int64_t kMost = 1'000'000'000'000;
  ThresholdOptions options;
  options.lower = reader.Number("lower", -kInfinity, -kLargest, kLargest);
  options.upper = reader.Number("upper", kInfinity, -kLargest, kLargest);
  options.warmup_steps = reader.Int("warmup_steps", 0, 0, kMost);
  options.interval = reader.Int("interval", 1, 1, kMost);
  RETURN_IF_ERROR(reader.Finish());
  if (std::isinf(options.lower) && std::isinf(options.upper)) {
    return MakeError(
        ErrorId::kPrunerInvalid, "pruner threshold has neither lower nor upper",
        "give it one of them, or both", absl::StrCat(spec.field, ".upper"));
  }
  if (options.lower > options.upper) {
    return MakeError(ErrorId::kPrunerInvalid,
                     absl::StrFormat("option lower of pruner threshold is %g, "
                                     "above upper, which is %g",
                                     options.lower, options.upper),
                     "give a lower bound at or below the upper one",
                     absl::StrCat(spec.field, ".lower"));
  }
  return std::make_unique<ThresholdPruner>(options, objective.metric);
}

namespace {

constexpr const char* kWraps = "wraps";

class PatientPruner final : public Pruner {
 public:
  // `wrapped` may be null.
  PatientPruner(std::int64_t patience, double min_delta,
                const Objective& objective, std::unique_ptr<Pruner> wrapped)
      : patience_(patience),
        min_delta_(min_delta),
        objective_(objective),
        best_(objective),
        wrapped_(std::move(wrapped)) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state)) return {};
    const std::size_t count = trial->intermediate.size();
    const auto recent = static_cast<std::size_t>(patience_) + 1;
    if (count <= recent) return {};
    const double before = best_.Of(history, *trial, count - recent);
    const double after = BestLoss(objective_, *trial, count - recent, count,
                                  std::numeric_limits<double>::quiet_NaN());
    // NaN, where there is nothing else, is no proof of anything.
    if (!(before + min_delta_ < after)) return {};
    if (wrapped_ != nullptr) return wrapped_->Judge(history, number);
    return {true, absl::StrFormat(
                      "best %s of the last %d reports is %g, before it "
                      "was %g",
                      objective_.metric, recent, AsLoss(objective_, after),
                      AsLoss(objective_, before))};
  }

 private:
  std::int64_t patience_;
  double min_delta_;
  Objective objective_;
  BestSoFar best_;
  std::unique_ptr<Pruner> wrapped_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakePatientPruner(
    const PrunerSpec& spec, const Objective& objective) {
  const std::string prefix = absl::StrCat(kWraps, ".");
  PrunerSpec wrapped;
  wrapped.study = spec.study;
  wrapped.field = absl::StrCat(spec.field, ".", kWraps);
  Options own;
  for (const auto& [name, value] : spec.options) {
    if (absl::StartsWith(name, prefix)) {
      wrapped.options[name.substr(prefix.size())] = value;
    } else {
      own[name] = value;
    }
  }
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner patient", spec.field,
                      own);
  const std::int64_t patience = reader.Int("patience", 3, 0, 1'000'000'000'000);
  const double min_delta =
      reader.Number("min_delta", 0.0, 0.0, std::numeric_limits<double>::max());
  wrapped.name = reader.OneOf(
      kWraps, "", {"median", "percentile", "threshold", "wilcoxon"});
  RETURN_IF_ERROR(reader.Finish());
  std::unique_ptr<Pruner> inner;
  if (!wrapped.name.empty()) {
    ASSIGN_OR_RETURN(inner, MakePruner(wrapped, {objective}));
  } else if (!wrapped.options.empty()) {
    return MakeError(ErrorId::kPrunerInvalid,
                     "pruner patient has options for a pruner it does not wrap",
                     "name that pruner in the option wraps",
                     absl::StrCat(spec.field, ".", kWraps));
  }
  return std::make_unique<PatientPruner>(patience, min_delta, objective,
                                         std::move(inner));
}

}  // namespace frostline::sampler
