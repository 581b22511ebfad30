// SPDX-License-Identifier: Apache-2.0
#include "server/importance/contenders.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "server/importance/contender_runs.h"
#include "server/wire/example_outcomes.h"
#include "server/wire/limits.h"
#include "server/wire/training_seed.h"
#include "study/objective.h"

namespace frostline::server {
namespace {

// Of all runs together: they are all held at once.
constexpr std::int64_t kMostExamples = 16'000'000;

absl::Status TooMany(const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid, cause, "name fewer trials",
                   "contenders");
}

class Reader {
 public:
  Reader(const v1::CompareTrialsRequest& request,
         const storage::TrialStore& store, ComparedRuns& read)
      : request_(request),
        prefix_(MetricPrefix(request.set(), request.task())),
        store_(store),
        read_(read) {}

  // "accuracy" and "test.accuracy" are the same of the test set.
  std::string Reported(const std::string& metric) const {
    return absl::StartsWith(metric, prefix_) ? metric : prefix_ + metric;
  }
  std::string Measured(const std::string& metric) const {
    return std::string(absl::StripPrefix(metric, prefix_));
  }

  absl::StatusOr<statistics::Run> Read(const ContenderTrial& trial) {
    if (!seen_.insert(trial.name()).second) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat(trial.name(), " is compared with itself"),
                       "name each trial once", "contenders");
    }
    if (static_cast<int>(seen_.size()) > kMaxComparedTrials) {
      return TooMany(absl::StrCat("more than ", kMaxComparedTrials,
                                  " trials are compared"));
    }
    ASSIGN_OR_RETURN(const storage::OutcomeRow row, OutcomeOf(trial));
    const auto said = OutcomesOfSet(row, request_.set(), request_.task());
    if (!said.has_value()) {
      return NoOutcomes(trial.name(), request_.set(), request_.task(), &row,
                        "set");
    }
    RETURN_IF_ERROR(CheckSameData(trial, *said));
    const auto metric = trial.row.metrics.find(read_.metric);
    const statistics::Outcomes outcomes = ReadOutcomes(*said);
    if (metric == trial.row.metrics.end()) {
      return Untestable(outcomes, absl::StrCat(trial.name(), " reported no \"",
                                               read_.metric, "\""));
    }
    statistics::Run run;
    run.seed = SeedToTrainWith(trial.row, trial.study->checked->spec);
    run.value = metric->second;
    run.score = ScoreOf(outcomes, Measured(read_.metric), run.value);
    if (run.score == nullptr) {
      return Untestable(
          outcomes, absl::StrCat("the ", read_.metric, " that ", trial.name(),
                                 " reported cannot be had of its outcomes"));
    }
    return run;
  }

 private:
  absl::StatusOr<storage::OutcomeRow> OutcomeOf(
      const ContenderTrial& trial) const {
    if (trial.row.state != TrialState::kSucceeded) {
      return MakeError(ErrorId::kOutcomesMissing,
                       absl::StrCat(trial.name(), " has no result"),
                       "name trials that have succeeded", "contenders");
    }
    ASSIGN_OR_RETURN(std::optional<storage::OutcomeRow> row,
                     store_.FindOutcome(trial.study->key, trial.row.number));
    if (row.has_value()) return *std::move(row);
    return NoOutcomes(trial.name(), request_.set(), request_.task(), nullptr,
                      "contenders");
  }

  absl::Status CheckSameData(const ContenderTrial& trial,
                             const v1::ExampleOutcomes& said) {
    if (first_.empty()) {
      first_ = trial.name();
      read_.fingerprint = said.data_fingerprint();
      read_.examples = said.count();
    }
    const bool same = !said.data_fingerprint().empty() &&
                      said.data_fingerprint() == read_.fingerprint &&
                      said.count() == read_.examples;
    if (!same) {
      const std::string cause =
          said.data_fingerprint().empty()
              ? absl::StrCat(trial.name(),
                             " does not say on which data it was "
                             "evaluated")
              : absl::StrCat(trial.name(), " was evaluated on ", said.count(),
                             " examples of ", said.data_fingerprint(), ", ",
                             first_, " on ", read_.examples, " of ",
                             read_.fingerprint);
      return MakeError(ErrorId::kOutcomesDiffer, cause,
                       "evaluate both on the same data set and split",
                       "contenders");
    }
    examples_ += said.count();
    return examples_ <= kMostExamples
               ? absl::OkStatus()
               : TooMany(absl::StrCat("they have ", examples_,
                                      " examples and more in all, and ",
                                      kMostExamples, " is the most"));
  }

  static absl::Status Untestable(const statistics::Outcomes& outcomes,
                                 const std::string& cause) {
    const std::vector<std::string> names = statistics::MetricsOf(outcomes);
    return MakeError(ErrorId::kMetricUntestable, cause,
                     names.empty()
                         ? "name a metric that is the mean of what the trial "
                           "reported of each example"
                         : absl::StrCat("of these outcomes there may be: ",
                                        absl::StrJoin(names, ", ")),
                     "metric");
  }

  const v1::CompareTrialsRequest& request_;
  const std::string prefix_;
  const storage::TrialStore& store_;
  ComparedRuns& read_;
  std::string first_;
  std::int64_t examples_ = 0;
  std::set<std::string> seen_;
};

// As the studies that have it as an objective say; costs fall.
Direction DirectionOf(const std::string& metric, const StudiesByName& studies) {
  for (const auto& [name, study] : studies) {
    for (const Objective& objective : study.checked->objectives) {
      if (objective.metric == metric) return objective.direction;
    }
  }
  const MetricRange range = PresumedRange(metric);
  return range.IsBoundedBelow() && !range.IsBoundedAbove()
             ? Direction::kMinimize
             : Direction::kMaximize;
}

}  // namespace

absl::StatusOr<ComparedRuns> ReadContenders(
    const v1::CompareTrialsRequest& request, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop) {
  ComparedRuns read;
  Reader reader(request, desk.store(), read);
  if (!request.metric().empty()) {
    read.metric = reader.Reported(request.metric());
  }
  for (const v1::Contender& contender : request.contenders()) {
    ASSIGN_OR_RETURN(const std::vector<ContenderTrial> trials,
                     TrialsOf(contender, studies, desk, stop));
    if (read.metric.empty()) {
      read.metric =
          reader.Reported(trials[0].study->checked->objectives[0].metric);
    }
    statistics::Contender& to = read.contenders.emplace_back();
    to.name = contender.name().empty() ? trials[0].name() : contender.name();
    read.trials.emplace_back();
    for (const ContenderTrial& trial : trials) {
      RETURN_IF_ERROR(importance::CheckStop(stop));
      ASSIGN_OR_RETURN(statistics::Run run, reader.Read(trial));
      if (run.score->by_sentence()) {
        read.sentences = static_cast<std::int64_t>(run.score->units());
      } else if (trial.study->checked->spec.data().task() == "tagging") {
        read.loose_words = true;
      }
      to.runs.push_back(std::move(run));
      read.trials.back().push_back(trial.name());
    }
  }
  read.set = SetNamed(request.set());
  read.task = request.task();
  read.direction = DirectionOf(reader.Measured(read.metric), studies);
  return read;
}

}  // namespace frostline::server
