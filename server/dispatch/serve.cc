// SPDX-License-Identifier: Apache-2.0
//
// Who waits gets what there is: queued trials first, and proposals for the
// rest. Proposals are prepared ahead, for slots that have just become free, so
// that a worker rarely waits for a sampler. On the loop.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"
#include "server/wire/training_seed.h"

namespace frostline {
namespace {

constexpr std::int64_t kMostProposalsAtOnce = 64;
constexpr Duration kTooLate = std::chrono::seconds(1);
// A worker asks again at once when a trial has ended; later, it has gone.
constexpr Duration kExpectedFor = std::chrono::seconds(5);

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

std::vector<Coordinator::Impl::Supply> Coordinator::Impl::Supplies() {
  const WallMicros now = clock_.Wall();
  std::vector<Supply> supplies;
  for (auto& [key, book] : studies_) {
    if (!book.IsLeasing() || book.AtParallelLimit()) continue;
    Supply supply;
    supply.book = &book;
    supply.queued = book.Count(TrialState::kQueued);
    supply.can_propose = std::min({book.SlotsLeft(now) + book.reserved(),
                                   book.ParallelLeft(), kMostProposalsAtOnce});
    if (supply.queued + supply.can_propose > 0) supplies.push_back(supply);
  }
  // Among equals the one with fewer running trials, then the older.
  std::stable_sort(supplies.begin(), supplies.end(),
                   [](const Supply& a, const Supply& b) {
                     const int pa = a.book->checked().settings.priority();
                     const int pb = b.book->checked().settings.priority();
                     if (pa != pb) return pa > pb;
                     return a.book->Count(TrialState::kRunning) <
                            b.book->Count(TrialState::kRunning);
                   });
  return supplies;
}

void Coordinator::Impl::ServeWaiting(Batch& batch) {
  if (draining_ || (parked_.size() == 0 && expected_.empty())) return;
  if (room_.room == Room::kNoNewLeases) return;
  std::vector<Supply> supplies = Supplies();
  const SteadyTime now = clock_.Steady();
  parked_.Offer([&](ParkedAcquire& parked) {
    // Kept in the list: what is wanted of them is asked for below.
    const bool used_up =
        std::all_of(supplies.begin(), supplies.end(), [](const Supply& supply) {
          return supply.queued == 0 && supply.wanted >= supply.can_propose;
        });
    if (used_up) return Offered::kEnough;
    const bool gone = (parked.cancelled != nullptr && *parked.cancelled) ||
                      now - parked.deadline > kTooLate;
    if (gone) AnswerNone(batch, parked);
    return gone || TryServe(batch, parked, supplies) ? Offered::kLeaves
                                                     : Offered::kStays;
  });
  CountExpected(supplies);
  for (const Supply& supply : supplies) {
    StudyBook& book = *supply.book;
    const std::int64_t ask =
        std::min(supply.wanted, supply.can_propose) - book.reserved();
    if (ask <= 0) continue;
    const std::int64_t first = book.Reserve(ask);
    proposer_.Propose(book.row().key, first, ask, book.revision());
  }
}

bool Coordinator::Impl::MayServe(const WorkerEntry& worker,
                                 const StudyBook& book) {
  return CarriesLabels(worker.info,
                       book.checked().settings.required_worker_labels());
}

void Coordinator::Impl::CountExpected(std::vector<Supply>& supplies) {
  const SteadyTime now = clock_.Steady();
  std::erase_if(expected_,
                [now](const auto& entry) { return entry.second.until <= now; });
  for (const auto& [id, expected] : expected_) {
    const WorkerEntry* const worker = workers_.Find(id);
    if (worker == nullptr || worker->row.state != WorkerState::kActive)
      continue;
    std::int64_t slots = expected.slots;
    for (Supply& supply : supplies) {
      if (slots == 0) break;
      if (!MayServe(*worker, *supply.book)) continue;
      const std::int64_t from_queue = std::min(slots, supply.queued);
      supply.queued -= from_queue;
      const std::int64_t proposed =
          std::min(slots - from_queue, supply.can_propose - supply.wanted);
      supply.wanted += std::max<std::int64_t>(0, proposed);
      slots -= from_queue + std::max<std::int64_t>(0, proposed);
    }
  }
}

void Coordinator::Impl::Expect(const std::string& worker, std::int64_t slots) {
  Expected& expected = expected_[worker];
  expected.slots = std::min(expected.slots + slots, kMostProposalsAtOnce);
  expected.until = clock_.Steady() + kExpectedFor;
}

bool Coordinator::Impl::TryServe(Batch& batch, ParkedAcquire& parked,
                                 std::vector<Supply>& supplies) {
  WorkerEntry* const worker = workers_.Find(parked.worker);
  if (worker == nullptr || worker->row.state != WorkerState::kActive ||
      worker->row.boot_id != parked.request.boot_id()) {
    return false;
  }
  const std::string& only = parked.request.study();
  v1::AcquireReply reply;
  for (Supply& supply : supplies) {
    StudyBook& book = *supply.book;
    if (!only.empty() && StudyNameOf(book.row().id) != only) continue;
    if (!MayServe(*worker, book)) continue;
    while (supply.queued > 0 &&
           reply.leases_size() < parked.request.max_leases()) {
      const bool granted = GrantNext(batch, book, parked, reply);
      supply.queued = granted ? supply.queued - 1 : 0;
    }
    const std::int64_t lacking =
        parked.request.max_leases() - reply.leases_size();
    if (lacking == 0) break;
    if (reply.leases_size() == 0 && supply.can_propose > supply.wanted) {
      supply.wanted += lacking;
      break;  // one proposal for one slot, not one of every study
    }
  }
  if (reply.leases_size() == 0) return false;
  const std::uint64_t hash = HashAcquire(parked.request);
  const absl::Status remembered = batch.Write([&](Transaction& transaction) {
    return Remember(transaction, parked.request.request_id(), "Acquire", hash,
                    NamesOf(reply).SerializeAsString());
  });
  batch.Then([reply_to = std::move(parked.reply), reply = std::move(reply),
              remembered](const absl::Status& committed) mutable {
    if (!committed.ok()) return reply_to(committed);
    if (!remembered.ok()) return reply_to(remembered);
    reply_to(std::move(reply));
  });
  return true;
}

bool Coordinator::Impl::GrantNext(Batch& batch, StudyBook& book,
                                  const ParkedAcquire& parked,
                                  v1::AcquireReply& reply) {
  if (book.AtParallelLimit()) return false;
  const std::optional<std::int64_t> number = book.NextQueued(parked.worker);
  if (!number.has_value()) return false;
  const bool first_attempt = book.Find(*number)->row.attempt == 0;
  Transition grant =
      Grant(*book.Find(*number), parked.worker, parked.request.boot_id(),
            SecretString(RandomHexId()), clock_.Wall());
  if (!Persist(batch, book, std::move(grant), NothingMore).ok()) return false;
  FROSTLINE_FAILPOINT(kGrantWritten);
  const OpenTrial& leased = *book.Find(*number);
  leases_.Set({book.row().key, *number},
              clock_.Steady() + book.checked().lease.ttl);
  if (!first_attempt) {
    proposer_.Began(book.row().key, *number, leased.row.point,
                    NotedSeedOf(leased.row));
  }
  *reply.add_leases() =
      LeaseToProto(leased.row, leased.attempt, book.row().id, book.checked());
  return true;
}

void Coordinator::Impl::TakeProposals(Batch& batch,
                                      const Proposals& proposals) {
  const auto found = studies_.find(proposals.study);
  if (proposals.epoch != epoch_ || found == studies_.end()) return;
  StudyBook& book = found->second;
  for (const Proposal& proposal : proposals.made) {
    book.Arrived();
    TrialRow row;
    row.number = proposal.number;
    row.origin = TrialOrigin::kSampled;
    row.point = proposal.point;
    NoteSeed(proposal.seed, row);
    row.seen_revision = proposals.seen_revision;
    const bool over = book.row().state == StudyState::kStopped ||
                      book.row().state == StudyState::kDeleted;
    // A study that was stopped meanwhile gets no more trials.
    if (over || !InsertTrial(batch, book, std::move(row)).ok()) continue;
    FROSTLINE_FAILPOINT(kProposalTaken);
  }
  if (proposals.status.ok()) return;
  const auto made = static_cast<std::int64_t>(proposals.made.size());
  book.Exhaust(proposals.first_number + made, proposals.asked - made);
  if (!HasErrorId(proposals.status, ErrorId::kSpaceExhausted)) {
    Log(LogLevel::kError, "sampler_failed",
        {{"study", book.row().id},
         {"error", std::string(proposals.status.message())}});
  }
  CompleteIfDone(batch, book);
}

}  // namespace frostline
