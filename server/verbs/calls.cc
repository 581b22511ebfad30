// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/calls.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {
namespace {

// Bounds memory, and the time a call can wait before it is looked at.
constexpr std::size_t kMostWaitingCalls = 50'000;

absl::Status OverloadedError() {
  return MakeError(ErrorId::kOverloaded,
                   absl::StrCat(kMostWaitingCalls, " calls wait"),
                   "try again in a second, with fewer at a time");
}

}  // namespace

absl::Status DrainingError() {
  return MakeError(ErrorId::kCoordinatorDraining,
                   "the coordinator is shutting down",
                   "try again when it is back");
}

Calls::Calls(CommitLoop& loop, TaskPool& lookups, TaskPool& readers,
             Ledger& ledger, const storage::TrialStore& store,
             const Clock& clock)
    : loop_(loop),
      lookups_(lookups),
      readers_(readers),
      ledger_(ledger),
      store_(store),
      clock_(clock) {}

void Calls::Post(CommitLoop::Work work,
                 absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (loop_.Backlog() >= kMostWaitingCalls) return refuse(OverloadedError());
  if (!loop_.Post(std::move(work))) refuse(DrainingError());
}

void Calls::PostTo(TaskPool& pool, absl::AnyInvocable<void()> task,
                   absl::FunctionRef<void(const absl::Status&)> refuse) {
  if (pool.Backlog() >= kMostWaitingCalls) return refuse(OverloadedError());
  if (!pool.TryPost(std::move(task))) refuse(DrainingError());
}

}  // namespace frostline::server
