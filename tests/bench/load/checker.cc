// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/checker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/load/history.h"

namespace frostline::bench {
namespace {

constexpr char kMetric[] = "accuracy";

bool IsTerminal(v1::TrialState state) {
  return state >= v1::TRIAL_STATE_SUCCEEDED;
}

double MetricOf(const google::protobuf::Map<std::string, double>& metrics) {
  const auto found = metrics.find(kMetric);
  return found == metrics.end() ? 0.0 : found->second;
}

// One trial as stored against what was told about it.
class TrialCheck {
 public:
  TrialCheck(const StoredTrial& stored, const ToldTrial& told,
             std::vector<std::string>* wrong)
      : stored_(stored), told_(told), wrong_(*wrong) {}

  void Run() {
    CheckAttemptRows();
    for (const auto& [attempt, told] : told_.attempts) CheckGranted(attempt);
    CheckGrants();
    CheckOutcome();
    for (const auto& [attempt, told] : told_.attempts) {
      CheckVerdict(attempt, told);
      CheckMeasurements(attempt, told);
    }
    for (const auto& [attempt, rows] : stored_.measurements) {
      CheckPhantoms(attempt, rows);
    }
  }

 private:
  void Wrong(const std::string& what) {
    wrong_.push_back(absl::StrCat(stored_.trial.name(), ": ", what));
  }

  const v1::Attempt* Row(std::int64_t attempt) const {
    for (const v1::Attempt& row : stored_.trial.attempts()) {
      if (row.number() == attempt) return &row;
    }
    return nullptr;
  }

  void CheckAttemptRows() {
    std::int64_t last = 0;
    int completed = 0;
    for (const v1::Attempt& row : stored_.trial.attempts()) {
      if (row.number() != ++last) Wrong("its attempts are not 1, 2, 3, …");
      completed += row.state() == v1::ATTEMPT_STATE_COMPLETED ? 1 : 0;
    }
    if (completed > 1) Wrong("two attempts completed it");
    if (stored_.trial.attempt() != last) Wrong("its newest attempt has no row");
    const bool has_result = stored_.trial.state() == v1::TRIAL_STATE_SUCCEEDED;
    if (has_result && completed != 1 && last > 0) {
      Wrong("it succeeded, but no attempt did");
    }
  }

  void CheckGranted(std::int64_t attempt) {
    if (Row(attempt) == nullptr) {
      Wrong(absl::StrCat("attempt ", attempt, " was granted and is gone"));
    }
  }

  void CheckGrants() {
    const ToldAttempt* earlier = nullptr;
    for (const auto& [attempt, told] : told_.attempts) {
      if (told.requests.size() > 1) {
        Wrong(absl::StrCat("attempt ", attempt, " was granted twice"));
      }
      if (earlier != nullptr && told.granted < earlier->good_until) {
        Wrong(absl::StrFormat(
            "attempt %d was granted %.3f s before the lease of the one before "
            "it ended",
            attempt,
            std::chrono::duration<double>(earlier->good_until - told.granted)
                .count()));
      }
      if (earlier != nullptr && told.granted < earlier->asked) {
        Wrong(absl::StrCat("attempt ", attempt, " was granted too early"));
      }
      earlier = &told;
    }
  }

  // Whatever outcome is stored, its attempt's worker has sent it.
  void CheckOutcome() {
    if (stored_.trial.state() != v1::TRIAL_STATE_SUCCEEDED) return;
    for (const v1::Attempt& row : stored_.trial.attempts()) {
      if (row.state() != v1::ATTEMPT_STATE_COMPLETED) continue;
      const auto told = told_.attempts.find(row.number());
      const double value = MetricOf(stored_.trial.metrics());
      if (told == told_.attempts.end() || told->second.sent != "SUCCEEDED" ||
          told->second.value != value) {
        Wrong("its outcome is none that was sent");
      }
      if (stored_.trial.values().size() != 1 ||
          stored_.trial.values(0) != value) {
        Wrong("its value is not its metric");
      }
    }
  }

  void CheckVerdict(std::int64_t attempt, const ToldAttempt& told) {
    const v1::Attempt* const row = Row(attempt);
    if (row == nullptr || told.verdicts.empty()) return;
    const std::string number = absl::StrCat("attempt ", attempt, " ");
    if (told.sent != "SUCCEEDED") return CheckFailure(*row, told);
    if (told.verdicts.size() > 1) Wrong(number + "was told two verdicts");
    const std::string& verdict = *told.verdicts.begin();
    if (verdict == "ACCEPTED" &&
        (row->state() != v1::ATTEMPT_STATE_COMPLETED ||
         stored_.trial.state() != v1::TRIAL_STATE_SUCCEEDED ||
         MetricOf(stored_.trial.metrics()) != told.value)) {
      Wrong(number + "was accepted, and its outcome is not the trial's");
    }
    const bool kept =
        row->state() == v1::ATTEMPT_STATE_SUPERSEDED &&
        MetricOf(row->superseded_outcome().metrics()) == told.value;
    if (verdict == "SUPERSEDED" && !kept) {
      Wrong(number + "was superseded, and its outcome is not kept");
    }
  }

  void CheckFailure(const v1::Attempt& row, const ToldAttempt& told) {
    const bool over = row.state() == v1::ATTEMPT_STATE_FAILED ||
                      row.state() == v1::ATTEMPT_STATE_LOST ||
                      row.state() == v1::ATTEMPT_STATE_CANCELLED;
    if (told.sent == "FAILED" && !over) {
      Wrong(absl::StrCat("attempt ", row.number(), " failed and is ",
                         v1::AttemptState_Name(row.state())));
    }
  }

  void CheckMeasurements(std::int64_t attempt, const ToldAttempt& told) {
    std::map<std::int64_t, double> rows;
    const auto found = stored_.measurements.find(attempt);
    if (found != stored_.measurements.end()) {
      for (const v1::Measurement& row : found->second) {
        if (!rows.emplace(row.step(), MetricOf(row.metrics())).second) {
          Wrong(absl::StrCat("step ", row.step(), " is there twice"));
        }
      }
    }
    for (const auto& [step, value] : told.acknowledged) {
      const auto row = rows.find(step);
      if (row == rows.end() || row->second != value) {
        Wrong(absl::StrCat("step ", step, " of attempt ", attempt,
                           " was acknowledged and is ",
                           row == rows.end() ? "gone" : "another"));
      }
    }
  }

  void CheckPhantoms(std::int64_t attempt,
                     const std::vector<v1::Measurement>& rows) {
    const auto told = told_.attempts.find(attempt);
    for (const v1::Measurement& row : rows) {
      const bool sent = told != told_.attempts.end() &&
                        told->second.sent_steps.count(row.step()) > 0;
      if (!sent) Wrong(absl::StrCat("step ", row.step(), " was never sent"));
    }
  }

  const StoredTrial& stored_;
  const ToldTrial& told_;
  std::vector<std::string>& wrong_;
};

// Numbers without a gap, and as many ended trials as the study says.
void CheckBudget(const StoredStudy& stored, std::vector<std::string>* wrong) {
  const bool completed = stored.study.state() == v1::STUDY_STATE_COMPLETED;
  std::int64_t counted = 0;
  std::int64_t next = 0;
  for (const StoredTrial& trial : stored.trials) {
    const v1::Trial& row = trial.trial;
    if (row.number() != next) {
      wrong->push_back(absl::StrCat("trial ", next, " is missing"));
    }
    next = row.number() + 1;
    const bool counts = row.origin() == v1::TRIAL_ORIGIN_SAMPLED ||
                        row.origin() == v1::TRIAL_ORIGIN_ENQUEUED;
    if (counts && IsTerminal(row.state())) ++counted;
    if (completed && !IsTerminal(row.state())) {
      wrong->push_back(row.name() + ": open although the study is completed");
    }
  }
  if (counted != stored.study.counts().budget_used()) {
    wrong->push_back(absl::StrCat(counted, " trials count, the study says ",
                                  stored.study.counts().budget_used()));
  }
  const std::int64_t budget = stored.study.settings().budget().trials();
  if (completed && counted != budget) {
    wrong->push_back(absl::StrCat("completed with ", counted,
                                  " trials, its budget is ", budget));
  }
}

void CheckBest(const StoredStudy& stored, std::vector<std::string>* wrong) {
  double best = 0.0;
  double called_best = 0.0;
  for (const StoredTrial& trial : stored.trials) {
    const v1::Trial& row = trial.trial;
    if (row.state() != v1::TRIAL_STATE_SUCCEEDED) continue;
    best = std::max(best, MetricOf(row.metrics()));
    const auto& names = stored.study.best_trials();
    if (!names.empty() && names[0] == row.name()) {
      called_best = MetricOf(row.metrics());
    }
  }
  if (called_best != best) {
    wrong->push_back(absl::StrCat("the best value is ", best,
                                  ", the study's best trial has ",
                                  called_best));
  }
}

}  // namespace

std::vector<std::string> CheckHistory(const History& history,
                                      const StoredStudy& stored) {
  std::vector<std::string> wrong;
  Told told = Gather(history, stored.study.name() + "/trials/", &wrong);
  for (const StoredTrial& trial : stored.trials) {
    TrialCheck(trial, told[trial.trial.name()], &wrong).Run();
    told.erase(trial.trial.name());
  }
  for (const auto& [name, trial] : told) {
    wrong.push_back(name + ": workers were told of it, and it is gone");
  }
  CheckBudget(stored, &wrong);
  CheckBest(stored, &wrong);
  return wrong;
}

}  // namespace frostline::bench
