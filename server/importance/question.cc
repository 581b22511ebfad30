// SPDX-License-Identifier: Apache-2.0
#include "server/importance/question.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "frostline/v1/trial.pb.h"
#include "importance/measure/evaluate_options.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

// Steps of which all measurements are kept.
constexpr std::size_t kMostSteps = 8;

// A note is for people, and may be long.
std::string WithoutNote(const std::string& labels) {
  v1::Trial noted;
  noted.ParseFromString(labels);
  noted.clear_note();
  return noted.SerializeAsString();
}

KnownTrial KnownOf(storage::TrialRow row) {
  KnownTrial known;
  known.seen = ObservationOf(row);
  row.labels = WithoutNote(row.labels);
  row.point = {};
  row.secret = {};
  row.cause = {};
  row.usage = {};
  known.row = std::move(row);
  return known;
}

// What a name and a number of a map take, with its node.
constexpr std::size_t kMetricBytes = 96;

std::size_t StepBytesOf(const KnownTrial& known) {
  std::size_t bytes = 0;
  for (const auto& [step, metrics] : known.steps) {
    bytes += kMetricBytes *
             (1 + (metrics.has_value() ? metrics->size() : std::size_t{0}));
  }
  return bytes;
}

std::size_t TrialBytesOf(const KnownTrial& known) {
  return StepBytesOf(known) + sizeof(known) + known.row.labels.capacity() +
         known.row.worker.capacity() + known.row.metrics.size() * kMetricBytes +
         (known.seen.point.size() + known.seen.values.size() +
          known.row.values.size()) *
             sizeof(double);
}

// Returns what was measured at this step by the newest attempt that measured
// it: an attempt that went on from a checkpoint does not repeat earlier steps.
absl::StatusOr<std::optional<Metrics>> MetricsAt(
    const StudyHandle& study, const storage::TrialStore& store,
    const storage::TrialRow& trial, std::int64_t step) {
  if (trial.last_step < 0) return std::optional<Metrics>();
  for (std::int64_t attempt = trial.attempt; attempt >= 0; --attempt) {
    ASSIGN_OR_RETURN(const std::vector<Measurement> measured,
                     store.ListMeasurements({.study = study.key,
                                             .number = trial.number,
                                             .attempt = attempt,
                                             .after_step = step - 1,
                                             .limit = 1}));
    if (!measured.empty() && measured[0].step == step) {
      return std::optional<Metrics>(measured[0].metrics);
    }
  }
  return std::optional<Metrics>();
}

}  // namespace

absl::Status KnownTrials::CatchUp(const StudyHandle& study,
                                  const storage::TrialStore& store,
                                  const std::stop_token& stop) {
  const storage::TrialQuery changed{
      .study = study.key,
      .states = {TrialState::kSucceeded, TrialState::kPruned,
                 TrialState::kInfeasible, TrialState::kFailed,
                 TrialState::kCancelled},
      .order = storage::TrialQuery::Order::kRevision,
      .after = seen_revision_};
  return storage::ForEachTrial(
      store, changed, [&](const storage::TrialRow& row) {
        mutex_.AssertHeld();
        RETURN_IF_ERROR(importance::CheckStop(stop));
        const auto [place, is_new] = trials_.try_emplace(row.number);
        KnownTrial& known = place->second;
        if (!is_new) bytes_ -= TrialBytesOf(known);
        known = KnownOf(row);
        bytes_ += TrialBytesOf(known);
        seen_revision_ = row.revision;
        return absl::OkStatus();
      });
}

absl::Status KnownTrials::ReadStep(const StudyHandle& study,
                                   const storage::TrialStore& store,
                                   std::int64_t step,
                                   const std::stop_token& stop) {
  if (!steps_.contains(step) && steps_.size() >= kMostSteps) {
    for (auto& [number, known] : trials_) {
      bytes_ -= StepBytesOf(known);
      known.steps.clear();
    }
    steps_.clear();
  }
  steps_.insert(step);
  for (auto& [number, known] : trials_) {
    if (known.steps.contains(step)) continue;
    RETURN_IF_ERROR(importance::CheckStop(stop));
    ASSIGN_OR_RETURN(std::optional<Metrics> measured,
                     MetricsAt(study, store, known.row, step));
    bytes_ -= StepBytesOf(known);
    known.steps[step] = std::move(measured);
    bytes_ += StepBytesOf(known);
  }
  return absl::OkStatus();
}

absl::Status KnownTrials::See(
    const StudyHandle& study, const storage::TrialStore& store,
    std::int64_t step, const std::stop_token& stop,
    absl::FunctionRef<absl::Status(const std::map<std::int64_t, KnownTrial>&,
                                   std::int64_t revision)>
        see) {
  const MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CatchUp(study, store, stop));
  if (step > 0) RETURN_IF_ERROR(ReadStep(study, store, step, stop));
  // A row may have changed since the handle was made.
  return see(trials_, std::max(study.revision, seen_revision_));
}

std::shared_ptr<KnownTrials> KnownStudies::Of(storage::StudyKey study) {
  const MutexLock lock(&mutex_);
  const auto found =
      std::find_if(studies_.begin(), studies_.end(),
                   [study](const auto& entry) { return entry.first == study; });
  if (found != studies_.end()) {
    studies_.splice(studies_.begin(), studies_, found);
  } else {
    studies_.emplace_front(study, std::make_shared<KnownTrials>());
  }
  std::size_t bytes = 0;
  for (auto entry = studies_.begin(); entry != studies_.end();) {
    bytes += entry->second->bytes();
    const bool stays = entry == studies_.begin() || bytes <= max_bytes_;
    entry = stays ? std::next(entry) : studies_.erase(entry);
  }
  return studies_.front().second;
}

namespace {

constexpr std::size_t kMostNamesShown = 40;

Objective ObjectiveOf(const std::string& metric, v1::Direction asked,
                      const CheckedStudy& study) {
  Objective found{metric, Direction::kMinimize};
  for (const Objective& objective : study.objectives) {
    if (objective.metric == metric) found = objective;  // and its range
  }
  if (asked == v1::DIRECTION_MAXIMIZE) found.direction = Direction::kMaximize;
  if (asked == v1::DIRECTION_MINIMIZE) found.direction = Direction::kMinimize;
  return found;
}

absl::Status CheckAsked(const v1::ImportanceOptions& asked,
                        const CheckedStudy& study) {
  if (asked.at_step() < 0) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("at_step is ", asked.at_step()),
        "give a step from 1, or 0 for final values", "options.at_step");
  }
  if (!v1::Direction_IsValid(asked.target_direction())) {
    return MakeError(ErrorId::kRequestInvalid, "there is no such direction",
                     "use DIRECTION_MINIMIZE or DIRECTION_MAXIMIZE",
                     "options.target_direction");
  }
  for (int i = 0; i < asked.parameters_size(); ++i) {
    RETURN_IF_ERROR(FindParameter(study.space, asked.parameters(i),
                                  absl::StrCat("options.parameters[", i, "]"))
                        .status());
  }
  return TrialFilter::Parse(asked.filter(), NamesOf(study)).status();
}

bool LooksAtLabels(const std::string& filter, const CheckedStudy& study) {
  const auto parsed = TrialFilter::Parse(filter, NamesOf(study));
  return parsed.ok() &&
         std::any_of(parsed->terms().begin(), parsed->terms().end(),
                     [](const FilterTerm& term) {
                       return term.field.starts_with("labels.");
                     });
}

absl::StatusOr<importance::NamedSubsets> FindSubsets(
    const v1::ImportanceOptions& asked, const Space& space) {
  importance::NamedSubsets subsets;
  subsets.reserve(static_cast<std::size_t>(asked.subsets_size()));
  for (int s = 0; s < asked.subsets_size(); ++s) {
    const std::string field = absl::StrCat("options.subsets[", s, "]");
    std::vector<int>& subset = subsets.emplace_back();
    for (const std::string& name : asked.subsets(s).parameters()) {
      ASSIGN_OR_RETURN(const int parameter, FindParameter(space, name, field));
      if (std::count(subset.begin(), subset.end(), parameter) > 0) {
        return MakeError(ErrorId::kRequestInvalid,
                         absl::StrCat("\"", name, "\" is named twice in a set"),
                         "name each parameter once", field);
      }
      subset.push_back(parameter);
    }
  }
  RETURN_IF_ERROR(importance::CheckSubsets(subsets, space.parameters().size()));
  return subsets;
}

}  // namespace

absl::StatusOr<ImportanceQuestion> MakeQuestion(
    const v1::ImportanceOptions& asked, const CheckedStudy& study) {
  RETURN_IF_ERROR(CheckAsked(asked, study));
  ImportanceQuestion question;
  question.used = asked;
  question.used.clear_parameters();
  question.by_labels = LooksAtLabels(asked.filter(), study);
  v1::ImportanceOptions& used = question.used;
  importance::EvaluateOptions& options = question.options;
  if (used.target().empty()) used.set_target(study.objectives[0].metric);
  if (used.evaluator().empty()) used.set_evaluator(options.evaluator);
  if (used.seed() == 0) used.set_seed(study.spec.seed());
  if (used.trees() == 0) used.set_trees(options.trees);
  if (used.bootstraps() == 0) used.set_bootstraps(options.bootstraps);
  if (used.without_intervals()) used.set_bootstraps(0);
  const Objective target =
      ObjectiveOf(used.target(), used.target_direction(), study);
  used.set_target_direction(target.direction == Direction::kMaximize
                                ? v1::DIRECTION_MAXIMIZE
                                : v1::DIRECTION_MINIMIZE);
  question.objectives = {target};
  if (!used.best_by().empty() && used.best_by() != used.target()) {
    question.objectives.push_back(
        ObjectiveOf(used.best_by(), v1::DIRECTION_UNSPECIFIED, study));
  }
  options.evaluator = used.evaluator();
  options.target = used.target();
  options.best_by = used.best_by();
  if (used.top_quantile() != 0.0) options.top_quantile = used.top_quantile();
  options.seed = used.seed();
  options.trees = used.trees();
  options.bootstraps = used.bootstraps();
  options.pairs = !used.without_pairs();
  ASSIGN_OR_RETURN(options.subsets, FindSubsets(asked, study.space));
  const v1::PedAnovaOptions& ped = used.ped_anova();
  if (ped.target_quantile() != 0.0) {
    options.ped_anova.target_quantile = ped.target_quantile();
  }
  options.ped_anova.conditional = !ped.leave_out_partial();
  options.ped_anova.local = !ped.whole_space();
  return question;
}

std::string ListOf(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  const bool cut = shown.size() > kMostNamesShown;
  if (cut) shown.resize(kMostNamesShown);
  return absl::StrCat(absl::StrJoin(shown, ", "), cut ? ", …" : "");
}

absl::StatusOr<int> FindParameter(const Space& space, const std::string& name,
                                  const std::string& field) {
  if (const std::optional<int> found = space.IndexOf(name)) return *found;
  std::set<std::string> names;
  for (const Parameter& parameter : space.parameters()) {
    names.insert(parameter.name);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the space has no parameter \"", name, "\""),
                   absl::StrCat("there are: ", ListOf(names)), field);
}

std::string KeyOf(const ImportanceQuestion& question) {
  // There are no maps in it: always the same bytes.
  return question.used.SerializeAsString();
}

// The trials as a question sees them.

namespace {

std::optional<double> LoadedUsageOf(const Observation& seen,
                                    const std::string& name) {
  // A usage of zeros says that nobody has measured.
  if (seen.cost_s > 0.0 && name == kTrainSeconds) return seen.cost_s;
  if ((seen.cost_s > 0.0 || seen.trained_parameters > 0.0) &&
      name == kTrainedParameters) {
    return seen.trained_parameters;
  }
  return std::nullopt;
}

// What a trial came to in one of the question's objectives.
std::optional<double> ValueOf(const KnownTrial& known, const std::string& name,
                              std::int64_t step) {
  std::optional<double> value;
  if (step == 0) {
    const auto found = known.row.metrics.find(name);
    value = found != known.row.metrics.end() ? found->second
                                             : LoadedUsageOf(known.seen, name);
  } else if (const auto& measured = known.steps.at(step)) {
    const auto found = measured->find(name);
    if (found != measured->end()) value = found->second;
  }
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

// Says whether a trial may count: one that has a result may, and where a step
// is asked for, a pruned one too.
bool Counts(const storage::TrialRow& trial, std::int64_t step) {
  return trial.state == TrialState::kSucceeded ||
         (step > 0 && trial.state == TrialState::kPruned);
}

absl::Status CheckTarget(const std::string& name, const std::string& field,
                         const ImportanceQuestion& question,
                         const CheckedStudy& study,
                         const std::map<std::int64_t, KnownTrial>& trials) {
  const std::int64_t step = question.used.at_step();
  std::set<std::string> names;
  for (const Objective& objective : study.objectives) {
    names.insert(objective.metric);
  }
  if (step == 0) names.insert({kTrainSeconds, kTrainedParameters});
  if (names.contains(name)) return absl::OkStatus();
  for (const auto& [number, known] : trials) {
    if (!Counts(known.row, step)) continue;
    if (ValueOf(known, name, step).has_value()) return absl::OkStatus();
    if (step == 0) {
      for (const auto& metric : known.row.metrics) {
        names.insert(metric.first);
      }
    } else if (const auto& measured = known.steps.at(step)) {
      for (const auto& metric : *measured) names.insert(metric.first);
    }
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("no trial has a \"", name, "\"",
                   step > 0 ? absl::StrCat(" at step ", step) : ""),
      absl::StrCat("there are: ", ListOf(names)), field);
}

// The trial with the values that the question asks for.
Observation AnswerTo(const ImportanceQuestion& question,
                     const KnownTrial& known) {
  Observation seen = known.seen;
  seen.values.clear();
  if (!Counts(known.row, question.used.at_step())) return seen;
  // A pruned trial that got to the step has a result there like any other.
  seen.state = TrialState::kSucceeded;
  for (const Objective& objective : question.objectives) {
    const std::optional<double> value =
        ValueOf(known, objective.metric, question.used.at_step());
    if (value.has_value()) seen.values.push_back(*value);
  }
  if (seen.values.size() < question.objectives.size()) seen.values.clear();
  return seen;
}

}  // namespace

std::optional<double> FinalValueOf(const KnownTrial& known,
                                   const std::string& metric) {
  return ValueOf(known, metric, 0);
}

absl::StatusOr<History> SelectHistory(
    const ImportanceQuestion& question, const CheckedStudy& study,
    const std::map<std::int64_t, KnownTrial>& trials) {
  ASSIGN_OR_RETURN(const TrialFilter filter,
                   TrialFilter::Parse(question.used.filter(), NamesOf(study)));
  RETURN_IF_ERROR(CheckTarget(question.used.target(), "options.target",
                              question, study, trials));
  if (!question.used.best_by().empty()) {
    RETURN_IF_ERROR(CheckTarget(question.used.best_by(), "options.best_by",
                                question, study, trials));
  }
  History history;
  for (const auto& [number, known] : trials) {
    if (!filter.Matches(known.row)) continue;
    history.Put(AnswerTo(question, known));
  }
  return history;
}

}  // namespace frostline::server
