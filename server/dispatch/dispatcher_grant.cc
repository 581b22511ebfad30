// SPDX-License-Identifier: Apache-2.0
//
// One grant: to whom, which trial, and its lease.
#include <utility>

#include "base/failpoint.h"
#include "server/dispatch/dispatcher.h"
#include "server/wire/convert.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

constexpr Duration kTooLate = std::chrono::seconds(1);

// All that must be remembered of a reply: the rest is in the trials' rows.
v1::AcquireReply NamesOf(const v1::AcquireReply& reply) {
  v1::AcquireReply names;
  for (const v1::Lease& lease : reply.leases()) {
    v1::Lease* const name = names.add_leases();
    name->set_trial(lease.trial());
    name->set_attempt(lease.attempt());
  }
  return names;
}

}  // namespace

// Says whether the worker of the place is in service, for the study; puts it
// aside if not at all.
bool Dispatcher::IsInService(Ticket place, const StudyBook& book) {
  const ParkedAcquire& parked = line_.At(place);
  const WorkerEntry* const worker = ledger_.workers().Find(parked.worker);
  const bool in_service = worker != nullptr &&
                          worker->row.state == storage::WorkerState::kActive &&
                          worker->row.boot_id == parked.request.boot_id();
  if (!in_service) line_.SetAside(place);
  return in_service &&
         ledger_.blame().MayTry(parked.worker, book.row().key, clock_.Steady());
}

std::optional<Ticket> Dispatcher::NextInService(const StudyBook& book,
                                                Ticket after) {
  std::optional<Ticket> place = line_.NextFor(book, after);
  while (place.has_value() && !IsInService(*place, book)) {
    place = line_.NextFor(book, *place);
  }
  return place;
}

// What was granted in this turn is its own, and answered at its end.
bool Dispatcher::IsThere(const ParkedAcquire& parked, SteadyTime now) {
  return parked.granted.leases_size() > 0 ||
         (!parked.caller.hung_up() && now - parked.deadline <= kTooLate);
}

// Whoever waits longer without the boundary gets the next trial; none waits for
// a worker that is busy.
std::optional<Ticket> Dispatcher::FindHolder(const StudyBook& book,
                                             SteadyTime now) {
  constexpr int kLookedAt = 16;
  const std::optional<std::int64_t> first = book.NextQueued("");
  if (!first.has_value()) return std::nullopt;
  const storage::TrialRow& row = book.Find(*first)->row;
  if (row.attempt > 0) return std::nullopt;
  const auto boundary = BoundaryOf(book.checked(), row.point);
  if (!boundary.has_value()) return std::nullopt;
  const std::set<std::string>* const holders = affinity_.HoldersOf(*boundary);
  if (holders == nullptr) return std::nullopt;
  std::optional<Ticket> earliest;
  int looked_at = 0;
  for (const std::string& node : *holders) {
    if (++looked_at > kLookedAt) break;
    const std::optional<Ticket> place = line_.NextOf(node, book);
    if (!place.has_value() || (earliest.has_value() && *earliest < *place)) {
      continue;
    }
    if (IsThere(line_.At(*place), now) && IsInService(*place, book)) {
      earliest = place;
    }
  }
  return earliest;
}

std::optional<Ticket> Dispatcher::FindTaker(Batch& batch, const StudyBook& book,
                                            SteadyTime now) {
  if (const auto holder = FindHolder(book, now)) return holder;
  while (const auto place = NextInService(book, 0)) {
    if (IsThere(line_.At(*place), now)) return place;
    ParkedAcquire left = line_.Take(*place);
    AnswerNone(batch, left);
  }
  return std::nullopt;
}

// Trials that may change places with the one whose turn it is.
std::vector<AlikeTrial> Dispatcher::AlikeTo(const StudyBook& book,
                                            std::int64_t first) {
  std::vector<AlikeTrial> alike;
  for (const std::int64_t number :
       book.QueuedAlike(first, PrefixAffinity::kWindow)) {
    alike.push_back(
        {number, BoundaryOf(book.checked(), book.Find(number)->row.point)});
  }
  return alike;
}

bool Dispatcher::GrantNext(Batch& batch, StudyBook& book,
                           ParkedAcquire& parked) {
  if (book.AtParallelLimit()) return false;
  const std::optional<std::int64_t> first = book.NextQueued(parked.worker);
  if (!first.has_value()) return false;
  const storage::StudyKey study = book.row().key;
  const std::vector<AlikeTrial> alike = AlikeTo(book, *first);
  const std::size_t chosen = affinity_.Choose(study, parked.worker, alike);
  const std::int64_t number = alike[chosen].number;
  const storage::TrialRow& queued = book.Find(number)->row;
  const bool first_attempt = queued.attempt == 0;
  const SecretString secret = ledger_.lease_secrets().Draw(
      {queued.study, queued.number}, queued.attempt + 1);
  Transition grant =
      Grant(*book.Find(number), parked.worker, parked.request.boot_id(),
            AsStored(secret), clock_.Wall());
  // By it a repetition of the request finds what it was granted.
  grant.attempts.front().request_id = parked.request.request_id();
  if (!ledger_.Apply(batch, book, std::move(grant)).ok()) return false;
  FROSTLINE_FAILPOINT(kGrantWritten);
  affinity_.NoteGiven(study, parked.worker, alike, chosen);
  ledger_.RenewLease(book, number);
  share_.Began({study, number}, clock_.Steady());
  ledger_.blame().NoteTry(parked.worker, {study, number}, clock_.Steady());
  const OpenTrial& leased = *book.Find(number);
  if (!first_attempt) {
    proposer_.Began(study, number, leased.row.point, NotedSeedOf(leased.row));
  }
  *parked.granted.add_leases() = LeaseToProto(
      leased.row, leased.attempt, secret, book.row(), book.checked());
  return true;
}

void Dispatcher::AnswerGranted(Batch& batch, ParkedAcquire parked) {
  if (granted_) granted_(parked);
  ledger_.replies().Keep(MarkOf(parked.request),
                         NamesOf(parked.granted).SerializeAsString(),
                         clock_.Wall());
  batch.Then(
      [reply_to = std::move(parked.reply), reply = std::move(parked.granted)](
          const absl::Status& committed) mutable {
        if (!committed.ok()) return reply_to(committed);
        reply_to(std::move(reply));
      });
}

}  // namespace frostline::server
