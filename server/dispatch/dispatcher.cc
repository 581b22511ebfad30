// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/dispatcher.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_time.h"

namespace frostline::server {
namespace {

constexpr Duration kAskAgainAfter = std::chrono::milliseconds(200);

}  // namespace

StudySupply SupplyOf(const StudyBook& book, Ramp& ramp, WallMicros now) {
  return {.name = StudyNameOf(book.row().id),
          .state = book.row().state,
          .state_reason = book.row().state_reason,
          .at_parallel_limit = book.AtParallelLimit(),
          .is_ramping = ramp.Holds(book),
          .budget_left = book.SlotsLeft(now) > 0,
          .queued = book.Count(TrialState::kQueued),
          .proposing = book.reserved(),
          .running = book.Count(TrialState::kRunning)};
}

RequestMark MarkOf(v1::AcquireRequest request) {
  // A worker that is about to go asks again without waiting.
  request.clear_wait();
  request.clear_held_prefixes();
  return {request.request_id(), "Acquire", HashRequest(request)};
}

Dispatcher::Dispatcher(Ledger& ledger, Proposer& proposer,
                       const storage::DiskRoom& disk, const Clock& clock,
                       Granted granted)
    : ledger_(ledger),
      proposer_(proposer),
      disk_(disk),
      clock_(clock),
      granted_(std::move(granted)) {}

std::int64_t Dispatcher::BeginEpoch() {
  expected_.Clear();
  share_.Clear();
  ramp_.Clear();
  samplers_.clear();
  // What memory held of workers may be undone.
  line_.ResumeAll();
  since_.clear();
  kept_.clear();
  return all_since_ = ++epoch_;
}

std::int64_t Dispatcher::BeginEpochOf(
    const std::set<storage::StudyKey>& studies) {
  const auto is_one = [&studies](storage::StudyKey key) {
    return studies.contains(key);
  };
  share_.ForgetIf(is_one);
  ramp_.ForgetIf(is_one);
  std::erase_if(samplers_,
                [&](const auto& entry) { return is_one(entry.first); });
  line_.ResumeAll();
  ++epoch_;
  for (const storage::StudyKey study : studies) since_[study] = epoch_;
  return epoch_;
}

void Dispatcher::Park(Batch& batch, ParkedAcquire parked) {
  expected_.Asked(parked.worker, parked.request.max_leases());
  TurnAway(batch, parked.worker, [&parked](const ParkedAcquire& earlier) {
    return earlier.request.request_id() == parked.request.request_id();
  });
  if (WaitsForNothing(parked.request.study())) {
    return AnswerNone(batch, parked);
  }
  if (const WorkerEntry* const worker = ledger_.workers().Find(parked.worker)) {
    *parked.info.mutable_labels() = worker->info.labels();
    parked.stock = worker->stock;
  }
  parked.came = clock_.Steady();
  line_.Enter(std::move(parked));
}

void Dispatcher::TurnAway(
    Batch& batch, const std::string& worker,
    absl::FunctionRef<bool(const ParkedAcquire&)> leaves) {
  for (ParkedAcquire& parked : line_.TakeOf(worker, leaves)) {
    AnswerNone(batch, parked);
  }
}

void Dispatcher::Expect(const std::string& worker, std::int64_t slots) {
  expected_.Expect(worker, slots, clock_.Steady());
}

void Dispatcher::Turn(Batch& batch) {
  if (batch.MayWrite()) {
    for (const Proposals& kept : std::exchange(kept_, {})) {
      TakeProposals(batch, kept);
    }
    Serve(batch);
  }
  if (ledger_.TakeSomeStudyEnded()) {
    ForgetEndedStudies();
    const auto over = [&](const std::string& study) {
      batch.AssertOnLoop();
      return WaitsForNothing(study);
    };
    for (ParkedAcquire& parked : line_.TakeAskingFor(over)) {
      AnswerNone(batch, parked);
    }
  }
  for (ParkedAcquire& parked : line_.TakeDue(clock_.Steady())) {
    AnswerNone(batch, parked);
  }
}

void Dispatcher::ForgetEndedStudies() {
  const auto is_over = [this](storage::StudyKey key) FROSTLINE_ON_LOOP {
    const StudyBook* const book = ledger_.Find(key);
    return book == nullptr || !IsOpen(book->row().state);
  };
  share_.ForgetIf(is_over);
  ramp_.ForgetIf(is_over);
  affinity_.ForgetIf(is_over);
  std::erase_if(samplers_, [&](const auto& entry) FROSTLINE_ON_LOOP {
    return is_over(entry.first);
  });
}

void Dispatcher::Drain(Batch& batch) {
  draining_ = true;
  for (ParkedAcquire& parked : line_.TakeAll()) AnswerNone(batch, parked);
}

bool Dispatcher::WaitsForNothing(const std::string& study) const {
  if (study.empty()) return false;
  const absl::StatusOr<StudyBook*> book = ledger_.FindStudy(study);
  if (!book.ok()) return true;
  return !IsOpen((*book)->row().state);
}

IdleReason Dispatcher::WhyNothingFor(const ParkedAcquire& parked) {
  const WorkerEntry* const worker = ledger_.workers().Find(parked.worker);
  WorkerStanding standing{
      .coordinator_drains = draining_,
      .is_registered =
          worker != nullptr && worker->row.boot_id == parked.request.boot_id()};
  if (worker != nullptr) {
    standing.state = worker->row.state;
    standing.failures_in_a_row = worker->row.failures_in_a_row;
    standing.cause = ledger_.blame().CauseOf(parked.worker);
  }
  if (auto reason = WhyNotInService(standing)) return *std::move(reason);
  IdleReason nearest{v1::NO_STUDY, "NO_STUDY", "no study is active", ""};
  for (const auto& [key, book] : ledger_.studies()) {
    const std::string& only = parked.request.study();
    const bool is_asked = only.empty() ? IsOpen(book.row().state)
                                       : only == StudyNameOf(book.row().id);
    if (!is_asked) continue;
    const FleetSupply alone =
        CountAlone(ledger_, *worker, book, clock_.Steady());
    IdleReason reason =
        WhyNothingOf(SupplyOf(book, ramp_, clock_.Wall()), alone, disk_);
    if (IsNearer(reason, nearest)) nearest = std::move(reason);
  }
  return nearest;
}

void Dispatcher::AnswerNone(Batch& batch, ParkedAcquire& parked) {
  const IdleReason reason = WhyNothingFor(parked);
  v1::AcquireReply none;
  *none.mutable_retry_after() = proto::DurationToProto(kAskAgainAfter);
  none.set_none_reason(reason.none);
  none.set_none_detail(reason.sentence);
  batch.Then([none = std::move(none), reply = std::move(parked.reply)](
                 const absl::Status& committed) mutable {
    committed.ok() ? reply(std::move(none)) : reply(committed);
  });
}

void Dispatcher::TakeProposals(Batch& batch, const Proposals& proposals) {
  if (!batch.MayWrite()) return kept_.push_back(proposals);
  StudyBook* const book = ledger_.Find(proposals.study);
  const auto since = since_.find(proposals.study);
  const bool is_old =
      proposals.epoch < all_since_ ||
      (since != since_.end() && proposals.epoch < since->second);
  if (is_old || book == nullptr) return;
  NoteHeard(proposals.study);
  for (std::size_t i = 0; i < proposals.made.size(); ++i) {
    const Proposal& proposal = proposals.made[i];
    storage::TrialRow row;
    row.number = proposal.number;
    row.origin = storage::TrialOrigin::kSampled;
    row.point = proposal.point;
    NoteSeed(proposal.seed, row);
    row.seen_revision = proposals.seen_revision;
    const bool over = book->row().state == storage::StudyState::kStopped ||
                      book->row().state == storage::StudyState::kDeleted;
    // A study that was stopped meanwhile gets no more trials.
    const bool inserted =
        !over && ledger_.InsertTrial(batch, *book, std::move(row)).ok();
    if (!batch.MayWrite()) {
      // The store has just said so: the rest is still owed.
      Proposals rest = proposals;
      rest.made.erase(rest.made.begin(),
                      rest.made.begin() + static_cast<std::ptrdiff_t>(i));
      rest.asked -= static_cast<std::int64_t>(i);
      rest.first_number += static_cast<std::int64_t>(i);
      return kept_.push_back(std::move(rest));
    }
    book->Arrived();
    if (!inserted) continue;
    FROSTLINE_FAILPOINT(kProposalTaken);
  }
  if (proposals.status.ok()) return;
  const auto made = static_cast<std::int64_t>(proposals.made.size());
  book->Withdraw(proposals.first_number + made, proposals.asked - made);
  if (HasErrorId(proposals.status, ErrorId::kSpaceExhausted)) {
    book->NoteExhausted();
    return ledger_.CompleteIfDone(batch, *book);
  }
  // It could not be read just now: whoever asks next tries again.
  if (absl::IsUnavailable(proposals.status)) return;
  PauseFailed(batch, *book, proposals.status);
}

// Its trials are kept and it can be resumed: whoever asked is told why, instead
// of a study that ends as if it had succeeded.
void Dispatcher::PauseFailed(Batch& batch, StudyBook& book,
                             const absl::Status& why) {
  Log(LogLevel::kError, "sampler_failed",
      {{"study", book.row().id}, {"error", std::string(why.message())}});
  if (!book.IsLeasing()) return;
  (void)ledger_.SetState(batch, book, storage::StudyState::kPaused,
                         absl::StrCat("its sampler failed: ", why.message()));
}

}  // namespace frostline::server
