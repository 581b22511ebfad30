// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/blame.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"

namespace frostline::server {
namespace {

// More failures than one bad trial can cause (3 attempts), so that a bad point
// costs no worker.
constexpr int kPairFailures = 8;
constexpr std::size_t kWorkersThatTell = 2;
struct FailuresThatTell {
  int failures;
  std::size_t trials;
};
constexpr FailuresThatTell kNeverGood = {.failures = 8, .trials = 3};
// If anything has succeeded, a region of bad points is more likely.
constexpr FailuresThatTell kOnceGood = {.failures = 24, .trials = 8};
constexpr std::size_t kPointsThatTell = 2;
// Words that differ at each crash, by an address or a path, tell nothing.
constexpr std::size_t kMostCausesKept = 16;
constexpr int kStudiesOfABrokenWorker = 2;
constexpr Duration kFirstPause = std::chrono::minutes(5);
constexpr Duration kLongestPause = std::chrono::hours(1);

Duration BlamePauseAfter(int pauses) {
  return std::min(kLongestPause, kFirstPause * (1 << std::min(pauses, 4)));
}

// Returns the id with which a cause begins, if what it says is so on any worker
// and for any trial like it: "FL-5015".
std::string IdOfStudyFault(const std::string& cause) {
  for (const ErrorId id : {ErrorId::kTrainerProtocol, ErrorId::kTrainerLimit,
                           ErrorId::kTrainerMisuse}) {
    if (absl::StartsWith(cause, ErrorCode(id) + ":")) return ErrorCode(id);
  }
  return "";
}

std::string FailedAlike(std::int64_t first, std::int64_t second,
                        const std::string& cause) {
  return absl::StrCat("trials ", first, " and ", second,
                      " failed alike: ", cause,
                      "; mend it, then resume the study");
}

std::string LastCause(const std::string& cause) {
  return cause.empty() ? "" : absl::StrCat("; the last: ", cause);
}

}  // namespace

BlameVerdict Blame::NoteFailure(const FailedRun& run, SteadyTime now) {
  const auto& [worker, trial, cause, crashed_at, serving] = run;
  Study& study = studies_[trial.study];
  ++study.failures;
  study.failed_on.insert(worker);
  if (study.failed.size() < kOnceGood.trials) {
    study.failed.insert(trial.number);
  }
  Pair& pair = study.pairs[worker];
  ++pair.failures;
  pair.cause = cause;
  if (const auto why = WhyAlike(study, trial.number, cause)) {
    return {Blamed::kStudy, *why};
  }
  if (const auto why = WhyCrashing(study, run)) {
    return {Blamed::kStudy, *why};
  }
  if (FailsEverywhere(study)) {
    const std::string why = absl::StrCat(
        "its trials fail on ", study.failed_on.size(), " workers, ",
        study.failures, " times in a row", LastCause(cause));
    return {Blamed::kStudy, why};
  }
  // Trials in its other slots began before the pause.
  const bool is_kept = now < pair.kept_until && pair.tried != trial.number;
  if (pair.failures < kPairFailures || is_kept) return {};
  pair.kept_until = now + BlamePauseAfter(pair.pauses++);
  if (IsBroken(worker)) {
    return {Blamed::kWorker,
            absl::StrCat("fails in studies where others succeed",
                         LastCause(cause))};
  }
  return {Blamed::kPair, *WhyKept(worker, trial.study)};
}

std::optional<std::string> Blame::WhyAlike(Study& study, std::int64_t trial,
                                           const std::string& cause) {
  const std::string id = IdOfStudyFault(cause);
  if (id.empty()) return std::nullopt;
  const auto [first, is_first] = study.first_told.emplace(id, trial);
  if (is_first || first->second == trial) return std::nullopt;
  return FailedAlike(first->second, trial, cause);
}

std::optional<std::string> Blame::WhyCrashing(Study& study,
                                              const FailedRun& run) {
  if (!run.crashed_at.has_value() || !study.succeeded_on.empty() ||
      absl::StrContains(absl::AsciiStrToLower(run.cause), "out of memory")) {
    return std::nullopt;
  }
  const bool is_known = study.crashes.contains(run.cause);
  if (!is_known && study.crashes.size() >= kMostCausesKept) return std::nullopt;
  Crashes& alike = study.crashes[run.cause];
  if (alike.points.empty()) alike.first = run.trial.number;
  alike.points.insert(*run.crashed_at);
  alike.workers.insert(run.worker);
  const bool on_most = 2 * alike.workers.size() > run.serving;
  if (alike.points.size() < kPointsThatTell || !on_most) return std::nullopt;
  return FailedAlike(alike.first, run.trial.number, run.cause);
}

bool Blame::FailsEverywhere(const Study& study) {
  const FailuresThatTell& enough =
      study.succeeded_on.empty() ? kNeverGood : kOnceGood;
  return study.failed_on.size() >= kWorkersThatTell &&
         study.failures >= enough.failures &&
         study.failed.size() >= enough.trials;
}

bool Blame::IsBroken(const std::string& worker) const {
  int studies = 0;
  for (const auto& [key, study] : studies_) {
    const auto pair = study.pairs.find(worker);
    if (pair == study.pairs.end() || pair->second.failures < kPairFailures) {
      continue;
    }
    const bool others_succeed =
        study.succeeded_on.size() > study.succeeded_on.count(worker);
    if (others_succeed) ++studies;
  }
  return studies >= kStudiesOfABrokenWorker;
}

void Blame::NoteSuccess(const std::string& worker, storage::StudyKey key) {
  Study& study = studies_[key];
  study.succeeded_on.insert(worker);
  study.failures = 0;
  study.failed_on.clear();
  study.failed.clear();
  study.first_told.clear();
  study.crashes.clear();
  study.pairs.erase(worker);
}

bool Blame::MayTry(const std::string& worker, storage::StudyKey key,
                   SteadyTime now) const {
  const auto study = studies_.find(key);
  if (study == studies_.end()) return true;
  const auto pair = study->second.pairs.find(worker);
  return pair == study->second.pairs.end() || pair->second.kept_until <= now;
}

Blame::Pair* Blame::FindPair(const std::string& worker, storage::StudyKey key) {
  const auto study = studies_.find(key);
  if (study == studies_.end()) return nullptr;
  const auto pair = study->second.pairs.find(worker);
  return pair == study->second.pairs.end() ? nullptr : &pair->second;
}

void Blame::NoteTry(const std::string& worker, TrialKey trial, SteadyTime now) {
  Pair* const pair = FindPair(worker, trial.study);
  if (pair == nullptr || pair->pauses == 0) return;
  pair->kept_until = now + BlamePauseAfter(pair->pauses - 1);
  pair->tried = trial.number;
}

void Blame::NoteStopped(const std::string& worker, TrialKey trial,
                        SteadyTime now) {
  Pair* const pair = FindPair(worker, trial.study);
  if (pair == nullptr || pair->tried != trial.number) return;
  pair->tried.reset();
  pair->kept_until = now;
}

std::optional<std::string> Blame::WhyKept(const std::string& worker,
                                          storage::StudyKey key) const {
  const auto study = studies_.find(key);
  if (study == studies_.end()) return std::nullopt;
  const auto pair = study->second.pairs.find(worker);
  if (pair == study->second.pairs.end() || pair->second.pauses == 0) {
    return std::nullopt;
  }
  return absl::StrCat(WorkerNameOf(worker), " failed ", pair->second.failures,
                      " times in a row in it", LastCause(pair->second.cause));
}

void Blame::NoteQuarantined(const std::string& worker, SteadyTime now) {
  Quarantine& quarantine = quarantines_[worker];
  quarantine.until = now + BlamePauseAfter(quarantine.pauses++);
}

std::vector<std::string> Blame::TakePardoned(SteadyTime now) {
  std::vector<std::string> pardoned;
  for (auto& [worker, quarantine] : quarantines_) {
    if (!quarantine.until.has_value() || *quarantine.until > now) continue;
    quarantine.until.reset();
    pardoned.push_back(worker);
  }
  return pardoned;
}

std::string Blame::CauseOf(const std::string& worker) const {
  for (const auto& [key, study] : studies_) {
    const auto pair = study.pairs.find(worker);
    if (pair != study.pairs.end() && pair->second.pauses > 0) {
      return pair->second.cause;
    }
  }
  return "";
}

void Blame::ForgetWorker(const std::string& worker) {
  quarantines_.erase(worker);
  for (auto& [key, study] : studies_) {
    study.pairs.erase(worker);
    study.failed_on.erase(worker);
    for (auto& [cause, alike] : study.crashes) alike.workers.erase(worker);
  }
}

void Blame::ForgetStudy(storage::StudyKey study) { studies_.erase(study); }

}  // namespace frostline::server
