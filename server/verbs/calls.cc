// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/calls.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
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

Calls::Calls(CommitLoop& loop, Lanes& lanes, Ledger& ledger, AuditLog& audit,
             const storage::TrialStore& store, const Clock& clock)
    : loop_(loop),
      lanes_(lanes),
      ledger_(ledger),
      audit_(audit),
      store_(store),
      clock_(clock) {}

void Calls::Run(const std::shared_ptr<Acting>& acting) {
  Post(
      [this, acting](Batch& batch) {
        batch.AssertOnLoop();
        RunIn(batch, acting);
      },
      acting->caller.urgency,
      [&acting](const absl::Status& why) { acting->Answer(why); });
}

void Calls::RunIn(Batch& batch, const std::shared_ptr<Acting>& acting) {
  const absl::Status may = CheckMayRun(acting->caller);
  if (!may.ok()) {
    if (!absl::IsCancelled(may)) NoteOutcome(acting->caller, may, false);
    return acting->Answer(may);
  }
  Change change{acting->caller, batch, acting->rows};
  const std::int64_t writes = batch.writes();
  const absl::Status outcome = acting->Run(change);
  if (acting->rows.lacks()) {
    // Keeps the lookup that covers the rows which were read first.
    if (acting->reading == nullptr) {
      acting->reading = ledger_.row_lookups().Begin();
    }
    return PostOrRefuse(
        lanes_.lookups, acting->caller.urgency,
        [this, acting] {
          acting->rows.Read(store_);
          Run(acting);
        },
        [&acting](const absl::Status& why) { acting->Answer(why); });
  }
  acting->reading = nullptr;
  const bool wrote = batch.writes() != writes;
  NoteOutcome(acting->caller, outcome, wrote);
  const bool may_run_again = acting->again == Again::kIfUndone && !wrote;
  batch.Then([this, acting, may_run_again](const absl::Status& committed) {
    // The group was undone for another call's reasons, so this one may run
    // again.
    if (may_run_again && IsUndone(committed)) return Run(acting);
    acting->Answer(committed);
  });
}

absl::Status Calls::Once(Change& change, const RequestMark& mark,
                         const LookedUpReply& stored,
                         absl::FunctionRef<absl::Status()> may_begin,
                         absl::FunctionRef<absl::Status()> body,
                         google::protobuf::Message& answer) {
  ASSIGN_OR_RETURN(const std::optional<std::string> before,
                   ledger_.replies().Find(mark, stored.row));
  if (before.has_value()) {
    answer.ParseFromString(*before);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(may_begin());
  return change.batch.Write([&](storage::Transaction& transaction) {
    change.AssertOnLoop();
    RETURN_IF_ERROR(body());
    return ledger_.replies().Remember(
        transaction, mark, answer.SerializeAsString(), clock_.Wall());
  });
}

absl::StatusOr<std::vector<StudyHandle>> Calls::HandlesOf(
    const CallerIdentity& caller, const std::vector<std::string>& names) {
  std::vector<StudyHandle> handles;
  handles.reserve(names.size());
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(name));
    RETURN_IF_ERROR(CheckAccess(caller, *book));
    handles.push_back(HandleOf(*book));
  }
  return handles;
}

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
    RETURN_IF_ERROR(CheckAccess(caller.identity, **book, is_changed));
  }
  return absl::OkStatus();
}

absl::Status CheckAccess(const CallerIdentity& caller, const StudyBook& book,
                         bool changes) {
  return CheckStudyAccess(caller,
                          {StudyNameOf(book.row().id), book.row().owner,
                           book.checked().settings.labels()},
                          changes);
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

void Calls::PostOrRefuse(TaskPool& lane, Urgency urgency,
                         absl::AnyInvocable<void()> task,
                         absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (lane.Backlog() >= MostWaiting(urgency)) {
    return refuse(OverloadedError(urgency));
  }
  if (!lane.TryPost(std::move(task))) refuse(DrainingError());
}

}  // namespace frostline::server
