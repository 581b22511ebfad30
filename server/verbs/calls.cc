// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/calls.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/auth/access.h"

namespace frostline::server {

void WaitingCalls::EndRevoked() {
  std::vector<Waiting> revoked;
  {
    const MutexLock lock(&mutex_);
    for (auto one = waiting_.begin(); one != waiting_.end();) {
      if (!one->second.who.is_revoked()) {
        ++one;
        continue;
      }
      revoked.push_back(std::move(one->second));
      one = waiting_.erase(one);
    }
  }
  for (Waiting& one : revoked) one.end(CheckHolds(one.who));
}

std::uint64_t WaitingCalls::Add(
    const CallerIdentity& who,
    absl::AnyInvocable<void(const absl::Status&)> end) {
  const MutexLock lock(&mutex_);
  waiting_.emplace(++last_, Waiting{who, std::move(end)});
  return last_;
}

void WaitingCalls::Remove(std::uint64_t number) {
  const MutexLock lock(&mutex_);
  waiting_.erase(number);
}

namespace {

// Returns how many calls may wait. This limits memory, and the time until a
// call is looked at.
std::size_t MostWaiting(Urgency urgency) {
  switch (urgency) {
    case Urgency::kLease:
      return 100'000;
    case Urgency::kChange:
      return 50'000;
    case Urgency::kRead:
      return 20'000;
  }
  return 0;
}

// Says whether a resource belongs to a study: "studies/imdb/trials/7" belongs
// to "studies/imdb".
bool IsOfStudy(const std::string& resource, const std::string& study) {
  return absl::StartsWith(resource, study) &&
         (resource.size() == study.size() || resource[study.size()] == '/');
}

absl::Status OverloadedError(Urgency urgency) {
  return MakeError(ErrorId::kOverloaded,
                   absl::StrCat(MostWaiting(urgency), " calls wait"),
                   "try again in a second, with fewer at a time");
}

}  // namespace

absl::Status DrainingError() {
  return MakeError(ErrorId::kCoordinatorDraining,
                   "the coordinator is shutting down",
                   "try again when it is back");
}

Calls::Calls(CommitLoop& loop, TaskPool& lookups, TaskPool& readers,
             Ledger& ledger, AuditLog& audit, const storage::TrialStore& store,
             const Clock& clock)
    : loop_(loop),
      lookups_(lookups),
      readers_(readers),
      ledger_(ledger),
      audit_(audit),
      store_(store),
      clock_(clock) {}

absl::Status CheckWaiting(const CallContext& caller) {
  RETURN_IF_ERROR(CheckHolds(caller.identity));
  return caller.hung_up() ? absl::CancelledError("the caller has hung up")
                          : absl::OkStatus();
}

absl::Status Calls::CheckMayRun(const CallContext& caller) {
  RETURN_IF_ERROR(CheckWaiting(caller));
  for (const std::string& name : caller.studies) {
    // A study that does not exist is left to the body to report.
    const auto book = ledger_.FindStudy(name);
    if (!book.ok()) continue;
    const bool is_changed = caller.changes && IsOfStudy(caller.resource, name);
    RETURN_IF_ERROR(CheckStudyAccess(
        caller.identity,
        {name, (*book)->row().owner, (*book)->checked().settings.labels()},
        is_changed));
  }
  return absl::OkStatus();
}

absl::Status CheckMaySee(const CallerIdentity& caller, const StudyBook& book) {
  return CheckStudyAccess(caller,
                          {StudyNameOf(book.row().id), book.row().owner,
                           book.checked().settings.labels()},
                          /*changes=*/false);
}

void Calls::NoteOutcome(const CallContext& caller, const absl::Status& outcome,
                        bool wrote) {
  if (caller.changes && (wrote || !outcome.ok())) {
    audit_.Note(caller, outcome);
  }
}

void Calls::Post(CommitLoop::Work work, Urgency urgency,
                 absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (loop_.Backlog(urgency) >= MostWaiting(urgency)) {
    return refuse(OverloadedError(urgency));
  }
  if (!loop_.Post(std::move(work), urgency)) refuse(DrainingError());
}

void Calls::PostTo(TaskPool& pool, absl::AnyInvocable<void()> task,
                   Urgency urgency,
                   absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (pool.Backlog() >= MostWaiting(urgency)) {
    return refuse(OverloadedError(urgency));
  }
  if (!pool.TryPost(std::move(task))) refuse(DrainingError());
}

}  // namespace frostline::server
