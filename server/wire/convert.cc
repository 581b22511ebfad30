// SPDX-License-Identifier: Apache-2.0
#include "server/wire/convert.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "frostline/v1/worker_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "sampler/memory.h"
#include "server/wire/limits.h"
#include "server/wire/space.h"
#include "server/wire/spec.h"
#include "server/wire/study_checks.h"
#include "study/freezing.h"

namespace frostline::server {
namespace {

// The numbers on the wire are the numbers in the store.
static_assert(static_cast<int>(TrialState::kCancelled) ==
              v1::TRIAL_STATE_CANCELLED);
static_assert(static_cast<int>(AttemptState::kCancelled) ==
              v1::ATTEMPT_STATE_CANCELLED);
static_assert(static_cast<int>(FailureClass::kInfrastructure) ==
              v1::FAILURE_CLASS_INFRASTRUCTURE);
static_assert(static_cast<int>(storage::StudyState::kDeleted) ==
              v1::STUDY_STATE_DELETED);
static_assert(static_cast<int>(storage::TrialOrigin::kRetry) ==
              v1::TRIAL_ORIGIN_RETRY);

v1::Attempt AttemptToProto(const storage::AttemptRow& row) {
  v1::Attempt proto;
  proto.set_number(row.attempt);
  proto.set_state(static_cast<v1::AttemptState>(row.state));
  proto.set_worker(WorkerNameOf(row.worker));
  proto.set_boot_id(row.boot_id);
  *proto.mutable_start_time() = proto::TimestampToProto(row.started);
  if (row.ended != 0)
    *proto.mutable_end_time() = proto::TimestampToProto(row.ended);
  proto.set_failure(static_cast<v1::FailureClass>(row.failure));
  proto.set_cause(row.cause);
  if (!row.checkpoint.empty()) {
    proto.mutable_checkpoint()->ParseFromString(row.checkpoint);
  }
  if (!row.outcome.empty()) {
    proto.mutable_superseded_outcome()->ParseFromString(row.outcome);
  }
  return proto;
}

void AddParameters(
    const storage::TrialRow& row, const Space& space,
    google::protobuf::RepeatedPtrField<v1::ParameterValue>& out) {
  for (std::size_t i = 0; i < row.point.size(); ++i) {
    if (IsAbsent(row.point[i])) continue;
    const Parameter& parameter = space.parameters()[i];
    v1::ParameterValue* const value = out.Add();
    value->set_name(parameter.name);
    *value->mutable_value() = ValueToProto(parameter.domain, row.point[i]);
  }
}

void AddRates(const storage::TrialRow& row, const Space& space,
              google::protobuf::RepeatedPtrField<v1::ModuleRate>& out) {
  for (const ModuleRate& rate : space.Rates(row.point)) {
    v1::ModuleRate* const proto = out.Add();
    proto->set_module(rate.module);
    proto->set_rate(rate.rate);
    if (rate.rank.has_value()) proto->set_rank(*rate.rank);
  }
}

std::string DescribeDomain(const Domain& domain) {
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    return absl::StrCat(levels->are_ranks ? "ranks " : "levels ",
                        absl::StrJoin(levels->rates, ", "));
  }
  const auto& range = std::get<LogUniform>(domain);
  return absl::StrCat("log-uniform ", range.lo, " … ", range.hi,
                      range.freeze ? " or frozen" : "");
}

}  // namespace

v1::Trial TrialToProto(const storage::TrialRow& row,
                       const std::string& study_id, const Space& space,
                       v1::TrialView view,
                       const std::vector<storage::AttemptRow>& attempts) {
  v1::Trial proto;
  proto.ParseFromString(row.labels);  // labels, note, seed and evaluations
  if (view != v1::TRIAL_VIEW_FULL) proto.clear_evaluations();
  proto.set_name(TrialNameOf(study_id, row.number));
  proto.set_number(row.number);
  proto.set_state(static_cast<v1::TrialState>(row.state));
  proto.set_origin(static_cast<v1::TrialOrigin>(row.origin));
  AddParameters(row, space, *proto.mutable_parameters());
  if (view == v1::TRIAL_VIEW_FULL) {
    AddRates(row, space, *proto.mutable_rates());
    for (const storage::AttemptRow& attempt : attempts) {
      *proto.add_attempts() = AttemptToProto(attempt);
    }
  }
  for (const auto& [name, value] : row.metrics) {
    (*proto.mutable_metrics())[name] = value;
  }
  proto.mutable_values()->Assign(row.values.begin(), row.values.end());
  proto.set_attempt(row.attempt);
  if (!row.worker.empty()) proto.set_worker(WorkerNameOf(row.worker));
  proto.set_last_step(row.last_step);
  proto.set_revision(row.revision);
  *proto.mutable_create_time() = proto::TimestampToProto(row.created);
  if (row.started != 0) {
    *proto.mutable_start_time() = proto::TimestampToProto(row.started);
  }
  if (row.ended != 0)
    *proto.mutable_end_time() = proto::TimestampToProto(row.ended);
  proto.set_failure(static_cast<v1::FailureClass>(row.failure));
  proto.set_cause(row.cause);
  if (!row.usage.empty()) {
    proto.mutable_usage()->ParseFromString(row.usage);
    // A hundred rows for a list of trials are nobody's wish.
    if (view != v1::TRIAL_VIEW_FULL) proto.mutable_usage()->clear_audit();
  }
  proto.set_priority(row.priority);
  proto.set_seen_revision(row.seen_revision);
  return proto;
}

v1::Study StudyToProto(const storage::StudyRow& row) {
  v1::Study proto;
  proto.set_name(StudyNameOf(row.id));
  proto.mutable_spec()->ParseFromString(row.spec);
  proto.mutable_settings()->ParseFromString(row.settings);
  proto.set_state(static_cast<v1::StudyState>(row.state));
  proto.set_state_reason(row.state_reason);
  proto.set_owner(row.owner);
  proto.set_etag(absl::StrCat(row.etag));
  proto.set_revision(row.revision);
  *proto.mutable_create_time() = proto::TimestampToProto(row.created);
  *proto.mutable_update_time() = proto::TimestampToProto(row.updated);
  if (row.expires != 0) {
    *proto.mutable_expire_time() = proto::TimestampToProto(row.expires);
  }
  return proto;
}

v1::Lease LeaseToProto(const storage::TrialRow& row,
                       const storage::AttemptRow& attempt,
                       const SecretString& secret, const storage::StudyRow& of,
                       const CheckedStudy& study) {
  v1::Lease lease;
  lease.set_trial(TrialNameOf(of.id, row.number));
  lease.set_attempt(row.attempt);
  lease.set_secret(secret.Reveal());
  *lease.mutable_ttl() = proto::DurationToProto(study.lease.ttl);
  *lease.mutable_heartbeat_interval() =
      proto::DurationToProto(study.lease.heartbeat_interval);
  v1::TrialSpec& spec = *lease.mutable_spec();
  AddParameters(row, study.space, *spec.mutable_parameters());
  AddRates(row, study.space, *spec.mutable_rates());
  *spec.mutable_model() = study.spec.model();
  *spec.mutable_data() = study.spec.data();
  // All trials of a study train and are judged on the same rows.
  if (study.spec.has_data() && study.spec.data().split_seed() == 0) {
    spec.mutable_data()->set_split_seed(study.spec.seed());
  }
  for (const v1::TaskSpec& each : study.spec.tasks()) {
    v1::TaskSpec& task = *spec.add_tasks();
    task = each;
    ResolveFreeze(study.shape, task);
    if (task.data().split_seed() != 0) continue;
    task.mutable_data()->set_split_seed(study.spec.seed());
  }
  *spec.mutable_training() = study.spec.training();
  if (const std::string decided = DecidedPrecision(study); !decided.empty()) {
    spec.mutable_training()->set_precision(decided);
    spec.set_auto_precision(decided);
  }
  *spec.mutable_freeze() = study.spec.freeze();
  *spec.mutable_objectives() = study.spec.objectives();
  *spec.mutable_constraints() = study.spec.constraints();
  *spec.mutable_study_create_time() = proto::TimestampToProto(of.created);
  spec.set_seed(SeedToTrainWith(row, study.spec));
  // An enqueued trial may have a seed of its own. If other trials have it too,
  // it is told as the study's, since what its noise tells is worth keeping.
  if (SharesSeeds(study.spec)) {
    spec.mutable_training()->set_seed(spec.seed());
  }
  spec.set_prefix_depth(FrozenPrefixOf(study.space, row.point));
  v1::Trial labelled;
  labelled.ParseFromString(row.labels);
  *spec.mutable_labels() = labelled.labels();
  if (!attempt.checkpoint.empty()) {
    lease.mutable_resume_from()->ParseFromString(attempt.checkpoint);
  }
  return lease;
}

v1::Measurement MeasurementToProto(const Measurement& measurement) {
  v1::Measurement proto;
  proto.set_step(measurement.step);
  proto.mutable_metrics()->insert(measurement.metrics.begin(),
                                  measurement.metrics.end());
  proto.set_elapsed_s(measurement.elapsed_s);
  return proto;
}

Measurement MeasurementFromProto(const v1::Measurement& proto) {
  return {.step = proto.step(),
          .metrics = {proto.metrics().begin(), proto.metrics().end()},
          .elapsed_s = proto.elapsed_s()};
}

namespace {

// Says where the rate of a module comes from, and puts it.
std::string DescribeRate(const ModuleBinding& binding,
                         std::optional<int> parameter, const Space& space,
                         v1::ResolvedModule& module) {
  if (binding.decay_steps.has_value()) {
    return absl::StrCat("base_rate * decay^", *binding.decay_steps);
  }
  if (parameter.has_value()) {
    const Parameter& given =
        space.parameters()[static_cast<std::size_t>(*parameter)];
    module.set_parameter(given.name);
    return DescribeDomain(given.domain);
  }
  module.set_fixed_rate(binding.fixed_rate);
  return binding.fixed_rate == 0.0 ? "frozen"
                                   : absl::StrCat("fixed ", binding.fixed_rate);
}

}  // namespace

std::vector<v1::ResolvedModule> ResolvedModules(const Space& space) {
  std::vector<v1::ResolvedModule> modules;
  for (const ModuleBinding& binding : space.modules()) {
    v1::ResolvedModule module;
    module.set_module(binding.module);
    if (!binding.adapter.has_value()) {
      module.set_domain(
          DescribeRate(binding, binding.parameter, space, module));
    } else {
      const auto at = static_cast<std::size_t>(binding.adapter->rank_parameter);
      const Parameter& rank = space.parameters()[at];
      module.set_rank_parameter(rank.name);
      module.set_domain(
          absl::StrCat(DescribeDomain(rank.domain), " at ",
                       DescribeRate(binding, binding.adapter->rate_parameter,
                                    space, module)));
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

namespace {

Result::Kind KindFromProto(v1::Outcome::Kind kind) {
  switch (kind) {
    case v1::Outcome::SUCCEEDED:
      return Result::Kind::kSucceeded;
    case v1::Outcome::PRUNED:
      return Result::Kind::kPruned;
    case v1::Outcome::INFEASIBLE:
      return Result::Kind::kInfeasible;
    case v1::Outcome::CANCELLED:
      return Result::Kind::kCancelled;
    default:
      return Result::Kind::kFailed;
  }
}

}  // namespace

absl::StatusOr<Result> ResultFromProto(
    const v1::Outcome& outcome, const std::vector<Objective>& objectives) {
  if (outcome.kind() == v1::Outcome::KIND_UNSPECIFIED) {
    return MakeError(ErrorId::kRequestInvalid, "the outcome has no kind",
                     "say how the attempt ended", "outcome.kind");
  }
  Result result;
  result.kind = KindFromProto(outcome.kind());
  result.cause = outcome.cause();
  result.failure = static_cast<FailureClass>(outcome.failure());
  if (result.kind == Result::Kind::kFailed &&
      result.failure == FailureClass::kNone) {
    result.failure = FailureClass::kTrial;
  }
  const bool must_have = result.kind == Result::Kind::kSucceeded;
  result.metrics = {outcome.metrics().begin(), outcome.metrics().end()};
  for (const Objective& objective : objectives) {
    const auto found = outcome.metrics().find(objective.metric);
    if (must_have && found == outcome.metrics().end()) {
      return MakeError(
          ErrorId::kObjectiveMissing,
          absl::StrCat("the final metrics lack ", objective.metric),
          "report every objective of the study at the end",
          absl::StrCat("outcome.metrics.", objective.metric));
    }
    if (must_have && !std::isfinite(found->second)) {
      return MakeError(ErrorId::kMetricNotFinite,
                       absl::StrCat(objective.metric, " is ", found->second),
                       "end the trial INFEASIBLE when its loss diverged",
                       absl::StrCat("outcome.metrics.", objective.metric));
    }
    if (found != outcome.metrics().end() && std::isfinite(found->second)) {
      result.values.push_back(found->second);
    }
  }
  const bool scored = result.kind == Result::Kind::kSucceeded ||
                      result.kind == Result::Kind::kPruned;
  if (!scored || result.values.size() != objectives.size()) {
    result.values.clear();
  }
  if (outcome.has_usage()) result.usage = outcome.usage().SerializeAsString();
  if (outcome.has_checkpoint()) {
    result.checkpoint = outcome.checkpoint().SerializeAsString();
  }
  result.outcome = outcome.SerializeAsString();
  return result;
}

namespace {

// Returns the 32-bit FNV-1a hash: the same in every process, so that a study
// replays.
std::uint32_t ObservationMarkOf(const std::string& device) {
  if (device.empty()) return 0;
  std::uint32_t mark = 2166136261U;
  for (const char letter : device) {
    mark = (mark ^ static_cast<unsigned char>(letter)) * 16777619U;
  }
  return std::max(mark, 1U);
}

}  // namespace

TrialUse UseOf(const v1::Usage& usage) {
  TrialUse use;
  use.seconds = static_cast<float>(usage.total_seconds());
  use.device = ObservationMarkOf(usage.device());
  if (usage.prefix_misses() + usage.prefix_hits() > 0) {
    use.prefix_computed = static_cast<float>(usage.prefix_misses());
  }
  constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;
  use.peak_mib = static_cast<float>(
      static_cast<double>(usage.peak_memory_bytes()) / kBytesPerMebibyte);
  if (usage.audit().empty()) return use;
  std::vector<ModuleBytes> modules;
  for (const v1::ModuleAudit& each : usage.audit()) {
    modules.push_back({each.module(), static_cast<double>(each.weight_bytes()),
                       static_cast<double>(each.activation_bytes())});
  }
  use.modules =
      std::make_shared<const std::vector<ModuleBytes>>(std::move(modules));
  return use;
}

Observation ObservationOf(const storage::TrialRow& row) {
  Observation seen;
  seen.number = row.number;
  // Whether a pending trial waits or runs tells a sampler nothing.
  seen.state = IsTerminal(row.state) ? row.state : TrialState::kRunning;
  // Its point says no less where not to go than a loss that became NaN.
  seen.out_of_memory = row.state == TrialState::kFailed &&
                       row.failure == FailureClass::kOutOfMemory;
  if (seen.out_of_memory) seen.state = TrialState::kInfeasible;
  seen.point = row.point;
  seen.values = row.values;
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  seen.cost_s = usage.train_seconds();
  seen.use = UseOf(usage);
  // A trainer may tell it among its metrics alone.
  const auto told = row.metrics.find(sampler::kPeakMemoryMetric);
  if (seen.use.peak_mib <= 0.0F && told != row.metrics.end()) {
    seen.use.peak_mib = static_cast<float>(told->second);
  }
  seen.trained_parameters = static_cast<double>(usage.trained_parameters());
  const NotedSeed noted = NotedSeedOf(row);
  seen.seed = noted.seed;
  seen.repeat = noted.repeat;
  return seen;
}

namespace {

absl::Status TooMany(int count, int most, const char* what,
                     const std::string& field) {
  return MakeError(ErrorId::kFieldTooLarge, absl::StrCat(count, " ", what),
                   absl::StrCat("send at most ", most), field);
}

}  // namespace

absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field) {
  static const int most_at_once =
      proto::MaxItems<v1::ReportRequest>("measurements");
  static const int most_metrics = proto::MaxItems<v1::Measurement>("metrics");
  if (measurements.size() > most_at_once) {
    return TooMany(measurements.size(), most_at_once, "measurements at once",
                   field);
  }
  std::vector<storage::MeasurementRow> rows;
  std::int64_t last = -1;
  for (const v1::Measurement& proto : measurements) {
    const std::string here = absl::StrCat(field, "[", rows.size(), "]");
    if (proto.metrics_size() > most_metrics) {
      return TooMany(proto.metrics_size(), most_metrics, "metrics in a step",
                     here + ".metrics");
    }
    if (proto.step() <= last) {
      return MakeError(
          ErrorId::kStepOutOfOrder,
          absl::StrCat("step ", proto.step(), " comes after step ", last),
          "number the steps of an attempt upwards from 0", here + ".step");
    }
    last = proto.step();
    rows.push_back(
        {row.study, row.number, attempt, MeasurementFromProto(proto)});
  }
  return rows;
}

absl::Status CheckCurve(std::int64_t steps, const std::string& field) {
  if (steps <= kMaxCurveSteps) return absl::OkStatus();
  return MakeError(
      ErrorId::kFieldTooLarge,
      absl::StrCat("the curve of this attempt would have ", steps,
                   " steps, the most is ", kMaxCurveSteps),
      "report every n-th step; the trial goes on without the others", field);
}

std::string OrderedBytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

namespace {

constexpr char kValidation[] = "validation";
constexpr char kDev[] = "dev";  // the validation set's other name

using Evaluations = google::protobuf::RepeatedPtrField<v1::ExampleOutcomes>;

// Reads whichever of the two forms the outcome has.
Evaluations EvaluationsOf(const v1::Outcome& outcome) {
  Evaluations all = outcome.evaluations();
  if (outcome.has_examples()) *all.Add() = outcome.examples();
  for (v1::ExampleOutcomes& one : all) one.set_set(SetNamed(one.set()));
  return all;
}

bool IsPlainValidation(const v1::ExampleOutcomes& one) {
  return one.set() == kValidation && one.task().empty();
}

// Says whether the columns can hold all of it.
bool FitsColumns(v1::ExampleOutcomes one) {
  one.clear_data_fingerprint();
  one.clear_encoding();
  one.clear_count();
  one.clear_data();
  one.clear_set();
  return one.ByteSizeLong() == 0;
}

// Returns all sets of the row, whole.
Evaluations AllOf(const storage::OutcomeRow& row) {
  v1::Outcome outcome;
  outcome.ParseFromString(row.evaluations);
  Evaluations all = outcome.evaluations();
  v1::ExampleOutcomes* validation = nullptr;
  for (v1::ExampleOutcomes& one : all) {
    if (IsPlainValidation(one)) validation = &one;
  }
  if (validation == nullptr && !row.evaluations.empty()) return all;
  if (validation == nullptr) validation = all.Add();
  validation->set_set(kValidation);
  validation->set_data_fingerprint(row.data_fingerprint);
  validation->set_encoding(
      static_cast<v1::ExampleOutcomes::Encoding>(row.encoding));
  validation->set_count(row.count);
  validation->set_data(row.data);
  return all;
}

const v1::ExampleOutcomes* Find(const Evaluations& all, const std::string& set,
                                const std::string& task) {
  for (const v1::ExampleOutcomes& one : all) {
    if (one.set() == set && one.task() == task) return &one;
  }
  return nullptr;
}

}  // namespace

std::string SetNamed(const std::string& set) {
  return set.empty() ? kValidation : set;
}

std::string DescribeSet(const std::string& set, const std::string& task) {
  return task.empty() ? SetNamed(set) : absl::StrCat(task, "/", SetNamed(set));
}

std::string MetricPrefix(const std::string& set, const std::string& task) {
  const bool is_validation = set.empty() || set == kValidation || set == kDev;
  return absl::StrCat(task, task.empty() ? "" : ".", is_validation ? "" : set,
                      is_validation ? "" : ".");
}

std::string CanonicalSet(const std::string& set, const v1::Training& training) {
  const auto& others = training.also_evaluate();
  const bool is_own =
      std::find(others.begin(), others.end(), set) != others.end();
  return set.empty() || (set == kDev && !is_own) ? kValidation : set;
}

absl::Status CheckExamples(const v1::Outcome& outcome) {
  if (outcome.has_examples() && !outcome.evaluations().empty()) {
    return proto::BadField("outcome.evaluations",
                           "is there beside outcome.examples",
                           "send one of them");
  }
  std::size_t bytes = outcome.examples().ByteSizeLong();
  std::set<std::pair<std::string, std::string>> seen;
  for (const v1::ExampleOutcomes& one : outcome.evaluations()) {
    if (!seen.emplace(one.task(), SetNamed(one.set())).second) {
      return proto::BadField(
          "outcome.evaluations",
          "has " + DescribeSet(one.set(), one.task()) + " twice",
          "send each set once");
    }
    bytes += one.ByteSizeLong();
  }
  const std::size_t most = proto::MaxBytes<v1::Outcome>("evaluations");
  if (bytes <= most) return absl::OkStatus();
  return proto::BadField(
      "outcome.evaluations",
      absl::StrCat("takes ", bytes, " bytes, more than ", most),
      "leave out confidences, or sets");
}

std::optional<storage::OutcomeRow> OutcomeRowOf(const v1::Outcome& outcome) {
  Evaluations all = EvaluationsOf(outcome);
  if (all.empty()) return std::nullopt;
  storage::OutcomeRow row;
  const bool only_columns =
      all.size() == 1 && IsPlainValidation(all[0]) && FitsColumns(all[0]);
  for (v1::ExampleOutcomes& one : all) {
    if (!IsPlainValidation(one)) continue;
    row.data_fingerprint = one.data_fingerprint();
    row.encoding = one.encoding();
    row.count = one.count();
    row.data = one.data();
    one.clear_data_fingerprint();
    one.clear_encoding();
    one.clear_count();
    one.clear_data();
  }
  if (only_columns) return row;
  v1::Outcome kept;
  kept.mutable_evaluations()->Swap(&all);
  row.evaluations = kept.SerializeAsString();
  return row;
}

void NoteEvaluations(const v1::Outcome& outcome, storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.clear_evaluations();
  for (const v1::ExampleOutcomes& one : EvaluationsOf(outcome)) {
    v1::EvaluationSet& noted = *kept.add_evaluations();
    noted.set_task(one.task());
    noted.set_set(one.set());
    noted.set_data_fingerprint(one.data_fingerprint());
    noted.set_count(one.count());
  }
  row.labels = kept.SerializeAsString();
}

void ForgetEvaluations(storage::TrialRow& row) {
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  kept.clear_evaluations();
  row.labels = kept.SerializeAsString();
}

std::optional<v1::ExampleOutcomes> OutcomesOfSet(const storage::OutcomeRow& row,
                                                 const std::string& set,
                                                 const std::string& task) {
  const Evaluations all = AllOf(row);
  const std::string wanted = SetNamed(set);
  const v1::ExampleOutcomes* found = Find(all, wanted, task);
  if (found == nullptr && wanted == kDev) found = Find(all, kValidation, task);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string DescribeSets(const storage::OutcomeRow& row) {
  return absl::StrJoin(AllOf(row), ", ",
                       [](std::string* out, const v1::ExampleOutcomes& one) {
                         out->append(DescribeSet(one.set(), one.task()));
                       });
}

absl::Status NoOutcomes(const std::string& trial, const std::string& set,
                        const std::string& task, const storage::OutcomeRow* row,
                        const std::string& field) {
  if (row == nullptr) {
    return MakeError(
        ErrorId::kOutcomesMissing, trial + " brought no outcomes of examples",
        "run it in a study with training.report_example_outcomes: true", field);
  }
  return MakeError(
      ErrorId::kOutcomesMissing,
      absl::StrCat(trial, " brought no outcomes of ", DescribeSet(set, task)),
      "ask for one that it has: " + DescribeSets(*row), field);
}

}  // namespace frostline::server
