// SPDX-License-Identifier: Apache-2.0
//
// What happens without a caller: leases that end, proposals that arrive, and
// the parked calls that both make possible.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/convert.h"
#include "server/coordinator_impl.h"

namespace frostline {
namespace {

constexpr std::int64_t kMostProposalsAtOnce = 64;
// A turn comes every 50 ms; after a longer gap no worker is to blame.
constexpr Duration kStall = std::chrono::seconds(2);
constexpr Duration kTooLate = std::chrono::seconds(1);
constexpr WallMicros kHour = 3600LL * 1'000'000;
constexpr WallMicros kReplyLifetime = 25 * kHour;  // one day is promised

}  // namespace

void Coordinator::Impl::Turn(Batch& batch) {
  EndDueLeases(batch);
  CompleteTimedOut(batch);
  ServeWaiting(batch);
  // Who waits for one study that has ended waits for nothing.
  TurnAway(batch, [this](const ParkedAcquire& parked) {
    return NothingFor(parked).none_reason() == v1::STUDY_ENDED;
  });
  AnswerDue(batch);
  Sweep(batch);
}

// What nobody needs any more: old replies, and studies deleted a week ago.
void Coordinator::Impl::Sweep(Batch& batch) {
  const WallMicros now = clock_.Wall();
  if (now - swept_ < kHour) return;
  swept_ = now;
  const absl::Status swept =
      batch.Write([&](Transaction& transaction) -> absl::Status {
        StudyQuery query;
        query.with_deleted = true;
        query.limit = 1000;
        while (true) {
          ASSIGN_OR_RETURN(const std::vector<StudyRow> studies,
                           store_.ListStudies(query));
          for (const StudyRow& row : studies) {
            if (row.state == StudyState::kDeleted && row.expires <= now) {
              RETURN_IF_ERROR(transaction.PurgeStudy(row.key));
            }
          }
          if (studies.size() < 1000) break;
          query.after = studies.back().key;
        }
        return transaction.ForgetRepliesBefore(now - kReplyLifetime);
      });
  if (!swept.ok()) {
    Log(LogLevel::kWarning, "sweep_failed",
        {{"error", std::string(swept.message())}});
  }
}

std::optional<SteadyTime> Coordinator::Impl::NextDue() const {
  std::optional<SteadyTime> next = leases_.NextDue();
  for (const auto& due : {parked_.NextDue(), watching_.NextDue()}) {
    if (due.has_value()) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

// A budget of time may end while nothing is running.
void Coordinator::Impl::CompleteTimedOut(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  if (now - timed_out_checked_ < std::chrono::seconds(1)) return;
  timed_out_checked_ = now;
  for (StudyBook* const book : StudiesByPriority())
    CompleteIfDone(batch, *book);
}

void Coordinator::Impl::EndDueLeases(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  const bool first = last_turn_ == SteadyTime{};
  const Duration stalled = now - std::exchange(last_turn_, now);
  if (stalled > kStall && !first) {
    // This process slept or hung: heartbeats could not be heard meanwhile.
    Log(LogLevel::kWarning, "stalled",
        {{"seconds",
          absl::StrCat(std::chrono::duration<double>(stalled).count())}});
    leases_.PostponeAll(stalled);
  }
  for (const TrialKey& due : leases_.Due(now)) {
    StudyBook& book = studies_.at(due.study);
    const OpenTrial trial = *book.Find(due.number);
    const std::string cause = absl::StrCat(
        "no heartbeat from ", WorkerNameOf(trial.row.worker), " for ",
        std::chrono::duration_cast<std::chrono::seconds>(
            book.checked().lease.ttl)
            .count(),
        " s");
    Log(LogLevel::kWarning, "lease_lost",
        {{"trial", TrialNameOf(book.row().id, due.number)},
         {"attempt", absl::StrCat(trial.row.attempt)},
         {"worker", trial.row.worker}});
    const absl::Status lost =
        Persist(batch, book,
                Lose(trial, cause, book.checked().lease.retry, clock_.Wall()),
                NothingMore);
    // The store refused: the group is undone and the lease judged again after.
    if (!lost.ok()) return;
  }
}

std::vector<StudyBook*> Coordinator::Impl::StudiesByPriority() {
  std::vector<StudyBook*> books;
  for (auto& [key, book] : studies_) {
    if (book.IsLeasing()) books.push_back(&book);
  }
  // Among equals the one with fewer running trials, then the older.
  std::stable_sort(
      books.begin(), books.end(), [](const StudyBook* a, const StudyBook* b) {
        const int pa = a->checked().settings.priority();
        const int pb = b->checked().settings.priority();
        if (pa != pb) return pa > pb;
        return a->Count(TrialState::kRunning) < b->Count(TrialState::kRunning);
      });
  return books;
}

void Coordinator::Impl::ServeWaiting(Batch& batch) {
  if (parked_.size() == 0 || draining_) return;
  std::map<StudyKey, std::int64_t> wanted;
  const std::vector<StudyBook*> books = StudiesByPriority();
  const SteadyTime now = clock_.Steady();
  parked_.Offer([&](ParkedAcquire& parked) {
    const bool gone = (parked.cancelled != nullptr && *parked.cancelled) ||
                      now - parked.deadline > kTooLate;
    return !gone && TryServe(batch, parked, books, wanted);
  });
  for (const auto& [key, count] : wanted) {
    StudyBook& book = studies_.at(key);
    const std::int64_t ask =
        std::min({count, book.SlotsLeft(clock_.Wall()) + book.reserved(),
                  book.ParallelLeft(), kMostProposalsAtOnce}) -
        book.reserved();
    if (ask <= 0) continue;
    const std::int64_t first = book.Reserve(ask);
    proposer_.Propose(key, first, ask, book.revision());
  }
}

bool Coordinator::Impl::TryServe(Batch& batch, ParkedAcquire& parked,
                                 const std::vector<StudyBook*>& books,
                                 std::map<StudyKey, std::int64_t>& wanted) {
  WorkerEntry* const worker = workers_.Find(parked.worker);
  if (worker == nullptr || worker->row.state != WorkerState::kActive ||
      worker->row.boot_id != parked.request.boot_id()) {
    return false;
  }
  const std::string& only = parked.request.study();
  v1::AcquireReply reply;
  for (StudyBook* const book : books) {
    if (!only.empty() && StudyNameOf(book->row().id) != only) continue;
    if (!CarriesLabels(worker->info,
                       book->checked().settings.required_worker_labels())) {
      continue;
    }
    while (reply.leases_size() < parked.request.max_leases() &&
           GrantNext(batch, *book, parked, reply)) {
    }
    const std::int64_t lacking =
        parked.request.max_leases() - reply.leases_size();
    if (lacking == 0) break;
    const bool can_propose =
        book->SlotsLeft(clock_.Wall()) + book->reserved() > 0;
    if (reply.leases_size() == 0 && can_propose && !book->AtParallelLimit()) {
      wanted[book->row().key] += lacking;
      break;  // one proposal for one slot, not one of every study
    }
  }
  if (reply.leases_size() == 0) return false;
  const std::uint64_t hash = HashAcquire(parked.request);
  const absl::Status remembered = batch.Write([&](Transaction& transaction) {
    return Remember(transaction, parked.request.request_id(), "Acquire", hash,
                    reply.SerializeAsString());
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
  const OpenTrial& leased = *book.Find(*number);
  leases_.Set({book.row().key, *number},
              clock_.Steady() + book.checked().lease.ttl);
  if (!first_attempt) {
    proposer_.Began(book.row().key, *number, leased.row.point);
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
    row.seen_revision = proposals.seen_revision;
    const bool over = book.row().state == StudyState::kStopped ||
                      book.row().state == StudyState::kDeleted;
    // A study that was stopped meanwhile gets no more trials.
    if (over || !InsertTrial(batch, book, std::move(row)).ok()) continue;
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

void Coordinator::Impl::AnswerDue(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  for (ParkedAcquire& parked :
       draining_ ? parked_.TakeAll() : parked_.TakeDue(now)) {
    batch.Then([reply = std::move(parked.reply), none = NothingFor(parked)](
                   const absl::Status& committed) mutable {
      committed.ok() ? reply(std::move(none)) : reply(committed);
    });
  }
  for (ParkedWatch& watch :
       draining_ ? watching_.TakeAll() : watching_.TakeDue(now)) {
    batch.Then([reply = std::move(watch.reply),
                draining = draining_](const absl::Status& committed) mutable {
      if (!committed.ok()) return reply(committed);
      if (draining) return reply(DrainingError());
      reply(std::vector<v1::StudyEvent>());
    });
  }
}

void Coordinator::Impl::TurnAway(
    Batch& batch, absl::FunctionRef<bool(const ParkedAcquire&)> leaves) {
  parked_.Offer([&](ParkedAcquire& parked) {
    if (!leaves(parked)) return false;
    batch.Then([reply = std::move(parked.reply), none = NothingFor(parked)](
                   const absl::Status& committed) mutable {
      committed.ok() ? reply(std::move(none)) : reply(committed);
    });
    return true;
  });
}

void Coordinator::Impl::WakeWatchers() {
  watching_.Offer([this](ParkedWatch& watch) {
    const auto found = studies_.find(watch.study);
    if (found == studies_.end()) return false;
    const StudyBook& book = found->second;
    if (book.revision() <= watch.after_revision) return false;
    auto shared = std::make_shared<ParkedWatch>(std::move(watch));
    readers_.Post([this, shared, handle = HandleOf(book),
                   now = Describe(book)]() mutable {
      shared->reply(EventsAfter(handle, std::move(now), shared->after_revision,
                                shared->view));
    });
    return true;
  });
}

}  // namespace frostline
