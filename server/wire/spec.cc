// SPDX-License-Identifier: Apache-2.0
#include "server/wire/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "frostline/v1/trial.pb.h"
#include "proto/rules.h"
#include "proto/served.h"
#include "proto/wire_values.h"
#include "sampler/draw/random.h"
#include "sampler/memory.h"
#include "server/wire/space.h"
#include "server/wire/study_checks.h"
#include "study/objective.h"

namespace frostline::server {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double OneOf(const storage::TrialRow& row,
             const v1::MetricConstraint& constraint) {
  const auto metric = row.metrics.find(constraint.metric());
  if (metric == row.metrics.end()) {
    return row.state == TrialState::kPruned ? -kInfinity : kInfinity;
  }
  const double above = metric->second - constraint.upper_bound();
  return std::isnan(above) ? kInfinity : above;
}

}  // namespace

absl::Status CheckConstraints(const v1::StudySpec& spec) {
  const int most = proto::MaxItems<v1::StudySpec>("constraints");
  const std::size_t name_bytes =
      proto::MaxBytes<v1::MetricConstraint>("metric");
  if (spec.constraints_size() > most) {
    return MakeError(
        ErrorId::kFieldTooLarge,
        absl::StrCat("there are ", spec.constraints_size(), " constraints"),
        absl::StrCat("give at most ", most), "constraints");
  }
  std::set<std::string> seen;
  for (int i = 0; i < spec.constraints_size(); ++i) {
    const v1::MetricConstraint& constraint = spec.constraints(i);
    const std::string field = absl::StrCat("constraints[", i, "]");
    const std::string& metric = constraint.metric();
    if (metric.empty() || metric.size() > name_bytes) {
      return MakeError(ErrorId::kRequestInvalid,
                       metric.empty() ? "a constraint names no metric"
                                      : "a constraint's metric has a name of "
                                        "more bytes than any metric",
                       "name a metric that the trainer reports at the end",
                       field + ".metric");
    }
    if (!seen.insert(metric).second) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat(metric, " is constrained twice"),
                       "keep the lower of the two bounds", field + ".metric");
    }
    if (!std::isfinite(constraint.upper_bound())) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("the bound of ", metric, " is ",
                                    constraint.upper_bound()),
                       "give a finite bound, or leave the constraint out",
                       field + ".upper_bound");
    }
  }
  return absl::OkStatus();
}

std::vector<double> ConstraintsOf(const storage::TrialRow& row,
                                  const v1::StudySpec& spec) {
  std::vector<double> constraints;
  const bool is_measured =
      row.state == TrialState::kSucceeded || row.state == TrialState::kPruned;
  if (!is_measured) return constraints;
  for (const v1::MetricConstraint& constraint : spec.constraints()) {
    constraints.push_back(OneOf(row, constraint));
  }
  return constraints;
}

double ViolationOf(const storage::TrialRow& row, const v1::StudySpec& spec) {
  double violation = 0.0;
  for (const double one : ConstraintsOf(row, spec)) {
    violation += std::max(0.0, one);
  }
  return violation;
}

std::vector<double> RankedValuesOf(const storage::TrialRow& row,
                                   const v1::StudySpec& spec) {
  std::vector<double> values = row.values;
  if (spec.constraints_size() > 0) values.push_back(ViolationOf(row, spec));
  return values;
}

namespace {

struct TestMetric {
  std::string metric;
  std::string field;
};

// Returns the first metric of the test split by which trials are compared.
std::optional<TestMetric> FindTestMetric(const v1::StudySpec& spec) {
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const std::string& metric = spec.objectives(i).metric();
    if (!IsOfTestSplit(metric)) continue;
    return TestMetric{metric, absl::StrCat("objectives[", i, "].metric")};
  }
  for (int i = 0; i < spec.constraints_size(); ++i) {
    const std::string& metric = spec.constraints(i).metric();
    if (!IsOfTestSplit(metric)) continue;
    return TestMetric{metric, absl::StrCat("constraints[", i, "].metric")};
  }
  return std::nullopt;
}

}  // namespace

absl::Status CheckTestObjective(const v1::StudySpec& spec) {
  if (spec.allow_test_objective()) return absl::OkStatus();
  const auto found = FindTestMetric(spec);
  if (!found.has_value()) return absl::OkStatus();
  return MakeError(
      ErrorId::kObjectiveInvalid,
      absl::StrCat("trials would be chosen by ", found->metric,
                   ", and the test split would be none any more"),
      "choose by a metric of the validation rows, e.g. accuracy; or say "
      "allow_test_objective: true, which every report will carry",
      found->field);
}

std::optional<std::string> TestObjectiveWarning(const v1::StudySpec& spec) {
  const auto found = FindTestMetric(spec);
  if (!found.has_value()) return std::nullopt;
  return TestObjectiveSentence(found->metric);
}

namespace {

// The precisions that decide. A trainer of the user's own may report anything
// else, which decides nothing.
constexpr std::array<std::string_view, 4> kKnown = {"fp32", "tf32", "bf16",
                                                    "fp16"};

bool IsKnown(const std::string& precision) {
  return std::find(kKnown.begin(), kKnown.end(), precision) != kKnown.end();
}

bool IsOpenPrecision(const v1::StudySpec& spec) {
  const std::string& precision = spec.training().precision();
  return precision.empty() || precision == "auto";
}

}  // namespace

std::string DecidedPrecision(const CheckedStudy& study) {
  return IsOpenPrecision(study.spec) ? study.settings.auto_precision() : "";
}

bool DecidesPrecision(const CheckedStudy& study, const std::string& precision) {
  return IsOpenPrecision(study.spec) &&
         study.settings.auto_precision().empty() && IsKnown(precision);
}

absl::Status CheckAutoPrecision(const v1::StudySettings& settings) {
  const std::string& precision = settings.auto_precision();
  if (precision.empty() || IsKnown(precision)) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("auto_precision is ", precision),
                   "leave it out: the first trial decides; or give fp32, bf16 "
                   "or fp16",
                   "auto_precision");
}

namespace {

absl::Status SpecTooLarge(const std::string& field, std::size_t limit) {
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat(field, " is over its limit of ", limit),
                   "make it smaller", field);
}

// Checks that given ends are finite; CheckObjectives checks that they rise.
absl::StatusOr<MetricRange> RangeFromProto(const v1::MetricRange& proto,
                                           const std::string& field) {
  const bool finite = std::isfinite(proto.lo()) && std::isfinite(proto.hi());
  if (!finite) {  // an end that is not given is 0 here
    return MakeError(ErrorId::kRangeInvalid,
                     "an end of a metric's range is not finite",
                     "leave out the end that is open, e.g. {lo: 0}", field);
  }
  MetricRange range;
  if (proto.has_lo()) range.lo = proto.lo();
  if (proto.has_hi()) range.hi = proto.hi();
  return range;
}

absl::StatusOr<std::vector<Objective>> CheckObjectiveList(
    const v1::StudySpec& spec) {
  std::vector<Objective> objectives;
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const v1::Objective& objective = spec.objectives(i);
    if (objective.direction() != v1::DIRECTION_MINIMIZE &&
        objective.direction() != v1::DIRECTION_MAXIMIZE) {
      return MakeError(
          ErrorId::kObjectiveInvalid,
          absl::StrCat("objective ", objective.metric(), " has no direction"),
          "say minimize or maximize",
          absl::StrCat("objectives[", i, "].direction"));
    }
    objectives.push_back(
        {objective.metric(), objective.direction() == v1::DIRECTION_MINIMIZE
                                 ? Direction::kMinimize
                                 : Direction::kMaximize});
    if (!std::isfinite(objective.tolerance()) || objective.tolerance() < 0.0) {
      return MakeError(
          ErrorId::kObjectiveInvalid,
          absl::StrCat("the tolerance of ", objective.metric(), " is ",
                       objective.tolerance()),
          "give a difference in units of the metric, above 0, or leave it out",
          absl::StrCat("objectives[", i, "].tolerance"));
    }
    objectives.back().tolerance = objective.tolerance();
    if (!objective.has_range()) continue;
    ASSIGN_OR_RETURN(objectives.back().range,
                     RangeFromProto(objective.range(),
                                    absl::StrCat("objectives[", i, "].range")));
  }
  RETURN_IF_ERROR(CheckObjectives(objectives));
  return objectives;
}

absl::Status CheckBudget(const v1::StudySettings& settings) {
  const v1::Budget& budget = settings.budget();
  const std::int64_t most = proto::MostOf<v1::Budget>("trials");
  if (budget.trials() < 1 || budget.trials() > most) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat("a budget of ", budget.trials(), " trials"),
                     absl::StrCat("ask for 1 to ", most), "budget.trials");
  }
  constexpr std::int64_t kTenYears = 10LL * 366 * 24 * 3600;
  if (budget.time().seconds() < 0 || budget.time().seconds() > kTenYears ||
      budget.time().nanos() < 0 || budget.time().nanos() >= 1'000'000'000) {
    return MakeError(ErrorId::kBudgetInvalid,
                     "a time that is negative or over ten years",
                     "leave it out for no limit", "budget.time");
  }
  if (!std::isfinite(budget.training_seconds()) ||
      budget.training_seconds() < 0) {
    return MakeError(ErrorId::kBudgetInvalid,
                     "training_seconds is negative or not finite",
                     "leave it out for no limit", "budget.training_seconds");
  }
  return absl::OkStatus();
}

absl::Status CheckSpecLabels(
    const google::protobuf::Map<std::string, std::string>& labels,
    const std::string& field) {
  const auto most =
      static_cast<std::size_t>(proto::MaxItems<v1::StudySettings>(field));
  const std::size_t bytes = proto::MaxBytes<v1::StudySettings>(field);
  if (labels.size() > most) return SpecTooLarge(field, most);
  for (const auto& [key, value] : labels) {
    if (key.empty() || key.size() > bytes || value.size() > bytes) {
      return SpecTooLarge(absl::StrCat(field, ".", key.substr(0, 32)), bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSettings(const v1::StudySettings& settings) {
  RETURN_IF_ERROR(CheckBudget(settings));
  RETURN_IF_ERROR(CheckSpecLabels(settings.labels(), "labels"));
  RETURN_IF_ERROR(CheckSpecLabels(settings.required_worker_labels(),
                                  "required_worker_labels"));
  const std::size_t note_bytes = proto::MaxBytes<v1::StudySettings>("notes");
  if (settings.notes().size() > note_bytes) {
    return SpecTooLarge("notes", note_bytes);
  }
  const std::int64_t highest = proto::MostOf<v1::StudySettings>("priority");
  if (settings.priority() < -highest || settings.priority() > highest) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("priority ", settings.priority()),
        absl::StrCat("a priority is in -", highest, " … ", highest),
        "priority");
  }
  if (settings.max_parallel() < 0) {
    return MakeError(ErrorId::kRequestInvalid, "max_parallel is negative",
                     "0 stands for no limit", "max_parallel");
  }
  return absl::OkStatus();
}

absl::StatusOr<LeaseRules> CheckSpecLease(const v1::LeasePolicy& policy,
                                          const LeaseRules& defaults) {
  LeaseRules rules = defaults;
  if (policy.has_ttl()) {
    rules.ttl = proto::DurationFromProto(policy.ttl());
    if (rules.ttl < std::chrono::seconds(1) ||
        rules.ttl > std::chrono::hours(1)) {
      return MakeError(ErrorId::kRequestInvalid, "lease.ttl is out of range",
                       "give a ttl of 1 s to 1 h", "lease.ttl");
    }
    rules.heartbeat_interval = rules.ttl / 4;
  }
  if (policy.has_heartbeat_interval()) {
    rules.heartbeat_interval =
        proto::DurationFromProto(policy.heartbeat_interval());
    // A study without a ttl gets at least three heartbeats, whatever the
    // coordinator's default is after a restart.
    const bool sane = rules.heartbeat_interval <= std::chrono::minutes(20);
    if (!policy.has_ttl() && sane) {
      rules.ttl = std::max(rules.ttl, 3 * rules.heartbeat_interval);
    }
    if (rules.heartbeat_interval <= Duration::zero() ||
        rules.heartbeat_interval > rules.ttl / 3) {
      return MakeError(ErrorId::kRequestInvalid,
                       "lease.heartbeat_interval is not in 0 … ttl / 3",
                       "a worker needs three chances before its lease ends",
                       "lease.heartbeat_interval");
    }
  }
  if (policy.max_trial_faults() < 0 || policy.max_infrastructure_faults() < 0) {
    return MakeError(ErrorId::kRequestInvalid, "a negative number of faults",
                     "leave it out for the default", "lease.max_trial_faults");
  }
  if (policy.max_trial_faults() > 0) {
    rules.retry.max_trial_faults = policy.max_trial_faults();
  }
  if (policy.max_infrastructure_faults() > 0) {
    rules.retry.max_infrastructure_faults = policy.max_infrastructure_faults();
  }
  rules.retry.accept_late_result =
      policy.late_result() != v1::LeasePolicy::NEWEST_ONLY;
  return rules;
}

// Gives every active parameter that has no value a random one, parents first.
Point CompletePoint(const Space& space, Point point, Rng& rng) {
  for (int i = 0; i < space.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!IsAbsent(point[at]) || !space.IsActive(i, point)) continue;
    point[at] = sampler::DrawValue(space.parameters()[at].domain,
                                   sampler::kFrozenShare, rng);
  }
  return point;
}

// Checks enqueued trials, so that a mistake in one is found before the study
// exists.
absl::Status CheckEnqueued(const CheckedStudy& study) {
  const int most = proto::MaxItems<v1::StudySpec>("enqueue");
  if (study.spec.enqueue_size() > most) {
    return SpecTooLarge("enqueue", static_cast<std::size_t>(most));
  }
  if (study.spec.enqueue_size() > study.settings.budget().trials()) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat(study.spec.enqueue_size(),
                                  " trials are enqueued, but the budget is ",
                                  study.settings.budget().trials()),
                     "raise the budget: enqueued trials count",
                     "budget.trials");
  }
  for (int i = 0; i < study.spec.enqueue_size(); ++i) {
    const auto point = PointFromEnqueued(study, study.spec.enqueue(i),
                                         absl::StrCat("enqueue[", i, "]"), i);
    RETURN_IF_ERROR(point.status());
  }
  return absl::OkStatus();
}

int DepthOf(const google::protobuf::Struct& fields);

int DepthOf(const google::protobuf::Value& value) {
  int deepest = 0;
  if (value.has_struct_value()) deepest = DepthOf(value.struct_value());
  for (const auto& item : value.list_value().values()) {
    deepest = std::max(deepest, DepthOf(item));
  }
  return deepest + 1;
}

int DepthOf(const google::protobuf::Struct& fields) {
  int deepest = 0;
  for (const auto& [name, value] : fields.fields()) {
    deepest = std::max(deepest, DepthOf(value));
  }
  return deepest + 1;
}

// Returns the purpose. A study stored before there were purposes is for the
// best value.
absl::StatusOr<Purpose> CheckPurpose(const v1::StudySpec& spec) {
  switch (spec.purpose()) {
    case v1::PURPOSE_UNSPECIFIED:
    case v1::PURPOSE_BEST:
      return Purpose::kBest;
    case v1::PURPOSE_UNDERSTAND:
      return Purpose::kUnderstand;
    case v1::PURPOSE_BOTH:
      return Purpose::kBoth;
    default:
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("purpose is ", static_cast<int>(spec.purpose()),
                       ", which this coordinator does not know"),
          "say best, understand or both", "purpose");
  }
}

absl::Status CheckTraining(const v1::StudySpec& spec) {
  constexpr std::size_t kMaxExtraBytes = 64 * 1024;
  constexpr int kMaxExtraDepth = 16;  // any reader of JSON can take it
  const google::protobuf::Struct& extra = spec.training().extra();
  if (extra.ByteSizeLong() > kMaxExtraBytes) {
    return SpecTooLarge("training.extra", kMaxExtraBytes);
  }
  if (DepthOf(extra) > kMaxExtraDepth) {
    return MakeError(ErrorId::kFieldTooLarge,
                     absl::StrCat("training.extra is nested more than ",
                                  kMaxExtraDepth, " deep"),
                     "flatten it", "training.extra");
  }
  return proto::CheckNoNegativeNumbers(spec);
}

absl::Status CheckStopWhen(const CheckedStudy& study) {
  if (!study.settings.has_stop_when()) return absl::OkStatus();
  const v1::StopWhen& stop_when = study.settings.stop_when();
  if (!stop_when.has_frontier()) {
    return MakeError(ErrorId::kRequestInvalid, "stop_when names no answer",
                     "write stop_when: {frontier: {probability: 0.95}}, or "
                     "leave it out",
                     "stop_when");
  }
  const v1::FrontierKnown& frontier = stop_when.frontier();
  const double probability = frontier.probability();
  if (probability != 0.0 && !(probability >= 0.5 && probability <= 0.999)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("a probability of ", probability),
                     "give 0.5 to 0.999, or leave it out for 0.9",
                     "stop_when.frontier.probability");
  }
  if (!std::isfinite(frontier.tolerance()) || frontier.tolerance() < 0.0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", frontier.tolerance()),
                     "give a part of the score, 0 or more",
                     "stop_when.frontier.tolerance");
  }
  const auto& modules = study.space.modules();
  const bool searches_modules = std::any_of(
      modules.begin(), modules.end(),
      [](const ModuleBinding& one) { return one.parameter.has_value(); });
  if (study.objectives.size() > 1 || !searches_modules) {
    return MakeError(ErrorId::kRequestInvalid,
                     study.objectives.size() > 1
                         ? "with several objectives no set of modules is enough"
                         : "the space searches no module's rate",
                     "leave stop_when out: the budget ends the study",
                     "stop_when.frontier");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckedStudy> CheckStudy(const v1::StudySpec& spec,
                                        const v1::StudySettings& settings,
                                        const LeaseRules& defaults) {
  if (spec.ByteSizeLong() > kMaxSpecBytes) {
    return SpecTooLarge("spec", kMaxSpecBytes);
  }
  RETURN_IF_ERROR(proto::CheckServed(spec));
  RETURN_IF_ERROR(CheckTraining(spec));
  CheckedStudy study;
  study.spec = spec;
  study.settings = settings;
  study.shape = {.num_layers = spec.model().layers(),
                 .heads_per_layer = spec.model().heads(),
                 .has_pooler = !spec.model().no_pooler(),
                 .tasks = NamesOfTasks(spec)};
  RETURN_IF_ERROR(CheckTasks(spec, study.shape));
  ASSIGN_OR_RETURN(study.objectives, CheckObjectiveList(spec));
  RETURN_IF_ERROR(CheckConstraints(spec));
  ASSIGN_OR_RETURN(study.space, SpaceFromProto(spec.space(), study.shape));
  RETURN_IF_ERROR(CheckSettings(settings));
  RETURN_IF_ERROR(CheckAutoPrecision(settings));
  RETURN_IF_ERROR(CheckStopWhen(study));
  RETURN_IF_ERROR(CheckSeeds(spec, settings));
  study.repeat = RepeatRuleOf(spec);
  ASSIGN_OR_RETURN(study.lease, CheckSpecLease(spec.lease(), defaults));
  if (!spec.sampler().name().empty())
    study.sampler.name = spec.sampler().name();
  study.sampler.options = {spec.sampler().options().begin(),
                           spec.sampler().options().end()};
  study.sampler.seed = spec.seed();
  for (const v1::MetricConstraint& constraint : spec.constraints()) {
    if (constraint.metric() != sampler::kPeakMemoryMetric) continue;
    study.sampler.memory_limit = constraint.upper_bound();
  }
  ASSIGN_OR_RETURN(study.sampler.purpose, CheckPurpose(spec));
  // This sampler is thrown away: only the sampler itself knows which options
  // fit.
  RETURN_IF_ERROR(
      sampler::MakeSampler(study.sampler, study.space, study.objectives)
          .status());
  if (!settings.pruner().name().empty()) {
    study.pruner.name = settings.pruner().name();
  }
  study.pruner.options = {settings.pruner().options().begin(),
                          settings.pruner().options().end()};
  RETURN_IF_ERROR(sampler::MakePruner(study.pruner, study.objectives).status());
  RETURN_IF_ERROR(CheckEnqueued(study));
  return study;
}

absl::StatusOr<Point> PointFromEnqueued(const CheckedStudy& study,
                                        const v1::EnqueuedTrial& trial,
                                        const std::string& field,
                                        std::int64_t number) {
  Rng rng(study.spec.seed(), static_cast<std::uint64_t>(number));
  Point point;
  if (trial.has_strategy()) {
    if (!trial.values().empty()) {
      return MakeError(ErrorId::kRequestInvalid,
                       "a trial has a strategy and values",
                       "give one of the two", field);
    }
    ASSIGN_OR_RETURN(const Strategy strategy,
                     StrategyFromProto(trial.strategy(), field + ".strategy"));
    ASSIGN_OR_RETURN(point, PointFromStrategy(study.space, study.shape,
                                              strategy, field + ".strategy"));
  } else {
    ASSIGN_OR_RETURN(
        point, PointFromValues(study.space, trial.values(), field + ".values"));
  }
  point = CompletePoint(study.space, std::move(point), rng);
  RETURN_IF_ERROR(study.space.Check(point));
  return point;
}

absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults) {
  v1::StudySpec spec;
  v1::StudySettings settings;
  if (!spec.ParseFromString(row.spec) ||
      !settings.ParseFromString(row.settings)) {
    return MakeError(
        ErrorId::kStoreCorrupt,
        absl::StrCat("the spec of study ", row.id, " cannot be read"),
        "restore the database from a backup");
  }
  // Early versions accepted it, although no trial could be judged by it.
  const std::string& pruner = settings.pruner().name();
  if (spec.objectives_size() > 1 && !pruner.empty() && pruner != "none") {
    Log(LogLevel::kWarning, "pruner_ignored",
        {{"study", row.id},
         {"pruner", pruner},
         {"why", "it compares one metric, and there are several objectives"}});
    settings.clear_pruner();
  }
  ASSIGN_OR_RETURN(CheckedStudy checked, CheckStudy(spec, settings, defaults));
  checked.pruner.study = row.id;
  return checked;
}

namespace {

constexpr int kMostRuns = 100;
constexpr int kDefaultLeaders = 3;
// Streams of the study's seed that no sampler draws from.
constexpr std::uint64_t kOfTrials = 1ull << 62;
constexpr std::uint64_t kOfRuns = 1ull << 61;

// Returns a seed that a 32-bit signed integer holds; never 0, which means
// "none".
std::uint64_t Draw(std::uint64_t study_seed, std::uint64_t stream) {
  Rng rng(study_seed, stream);
  return 1 + rng.Below((1ull << 31) - 1);
}

absl::Status Bad(const std::string& cause, const std::string& fix,
                 const std::string& field) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

std::int64_t TrialsToRepeat(const v1::RepeatLeaders& repeat) {
  return std::int64_t{repeat.leaders()} * (repeat.times() - 1);
}

absl::Status CheckListed(const v1::StudySpec& spec) {
  if (spec.seeds() != v1::SEED_MODE_PAIRED) {
    return Bad("training_seeds are listed for runs that are not paired",
               "say seeds: paired, or leave them out", "training_seeds");
  }
  if (spec.training_seeds_size() > kMostRuns) {
    return Bad(absl::StrCat(spec.training_seeds_size(), " seeds are listed"),
               absl::StrCat("list at most ", kMostRuns), "training_seeds");
  }
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : spec.training_seeds()) {
    if (seed != 0 && seen.insert(seed).second) continue;
    return Bad(
        absl::StrCat("training_seeds has ", seed, seed == 0 ? "" : " twice"),
        "list seeds above 0, each once", "training_seeds");
  }
  return absl::OkStatus();
}

absl::Status CheckRepeat(const v1::RepeatLeaders& repeat,
                         const v1::StudySettings& settings) {
  if (repeat.times() < 2 || repeat.times() > kMostRuns) {
    return Bad(absl::StrCat("leading points are to run ", repeat.times(),
                            " times in all"),
               absl::StrCat("give 2 to ", kMostRuns, ", or leave repeat out"),
               "repeat.times");
  }
  if (repeat.leaders() < 0 || repeat.leaders() > kMostRuns) {
    return Bad(absl::StrCat(repeat.leaders(), " points are to lead"),
               absl::StrCat("give 1 to ", kMostRuns, ", or leave it out for ",
                            kDefaultLeaders),
               "repeat.leaders");
  }
  if (repeat.after() < 0) {
    return Bad(absl::StrCat("repeats after trial ", repeat.after()),
               "give 1 or more, or leave it out", "repeat.after");
  }
  if (repeat.after() > 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kBudgetInvalid,
      absl::StrCat("repeating the leaders takes ", TrialsToRepeat(repeat),
                   " trials, all of a budget of ", settings.budget().trials()),
      "raise the budget, or repeat fewer leaders", "repeat");
}

}  // namespace

v1::SeedMode SeedModeOf(const v1::StudySpec& spec) {
  if (spec.seeds() != v1::SEED_MODE_UNSPECIFIED) return spec.seeds();
  return spec.training().seed() != 0 ? v1::SEED_MODE_FIXED
                                     : v1::SEED_MODE_PER_TRIAL;
}

absl::Status CheckSeeds(const v1::StudySpec& spec,
                        const v1::StudySettings& settings) {
  if (!v1::SeedMode_IsValid(spec.seeds())) {
    return Bad("seeds is none of the ways there are",
               "say per_trial, paired or fixed", "seeds");
  }
  const bool fixed = SeedModeOf(spec) == v1::SEED_MODE_FIXED;
  if (spec.training().seed() != 0 && !fixed) {
    return Bad(absl::StrCat("training.seed is ", spec.training().seed(),
                            " for all trials, and seeds asks for others"),
               "leave training.seed out, or seeds", "seeds");
  }
  if (spec.training_seeds_size() > 0) RETURN_IF_ERROR(CheckListed(spec));
  if (!spec.has_repeat()) return absl::OkStatus();
  if (fixed) {
    return Bad(
        "all trials have one seed: a point run again gives its result "
        "again",
        "leave training.seed and seeds: fixed out, or repeat", "repeat");
  }
  return CheckRepeat(spec.repeat(), settings);
}

void FillRepeat(const v1::StudySettings& settings, v1::StudySpec& spec) {
  if (!spec.has_repeat()) return;
  v1::RepeatLeaders& repeat = *spec.mutable_repeat();
  if (repeat.leaders() == 0) repeat.set_leaders(kDefaultLeaders);
  if (repeat.after() != 0) return;
  repeat.set_after(std::max<std::int64_t>(
      0, settings.budget().trials() - TrialsToRepeat(repeat)));
}

RepeatRule RepeatRuleOf(const v1::StudySpec& spec) {
  if (!spec.has_repeat()) return {};
  return {.times = spec.repeat().times(),
          .leaders = spec.repeat().leaders(),
          .after = spec.repeat().after()};
}

bool SharesSeeds(const v1::StudySpec& spec) {
  return SeedModeOf(spec) != v1::SEED_MODE_PER_TRIAL;
}

bool CountsRuns(const v1::StudySpec& spec) {
  return spec.has_repeat() || SeedModeOf(spec) == v1::SEED_MODE_PAIRED;
}

std::uint64_t TrainingSeed(const v1::StudySpec& spec, std::int64_t number,
                           std::int64_t repeat) {
  if (spec.training().seed() != 0) return spec.training().seed();
  switch (SeedModeOf(spec)) {
    case v1::SEED_MODE_PAIRED:
      if (repeat < spec.training_seeds_size()) {
        return spec.training_seeds(static_cast<int>(repeat));
      }
      return Draw(spec.seed(), kOfRuns | static_cast<std::uint64_t>(repeat));
    case v1::SEED_MODE_FIXED:
      return Draw(spec.seed(), kOfRuns);
    default:
      return Draw(spec.seed(), kOfTrials | static_cast<std::uint64_t>(number));
  }
}

void NoteSeed(const NotedSeed& noted, storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.set_seed(noted.seed);
  kept.set_repeat(noted.repeat);
  row.labels = kept.SerializeAsString();
}

NotedSeed NotedSeedOf(const storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  return {.seed = kept.seed(), .repeat = kept.repeat()};
}

std::uint64_t SeedToTrainWith(const storage::TrialRow& row,
                              const v1::StudySpec& spec) {
  const std::uint64_t noted = NotedSeedOf(row).seed;
  if (noted != 0) return noted;
  if (spec.training().seed() != 0) return spec.training().seed();
  // All 64 bits, as earlier versions drew it.
  return Rng(spec.seed(), static_cast<std::uint64_t>(row.number) | kOfTrials)
      .Next();
}

}  // namespace frostline::server
