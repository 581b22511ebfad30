// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/dispatcher.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_values.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"

namespace frostline::server {
namespace {

constexpr Duration kAskAgainAfter = std::chrono::milliseconds(200);

}  // namespace

StudySupply SupplyOf(const StudyBook& book, TeachingLimit& teaching_limit,
                     WallMicros now) {
  return {.name = StudyNameOf(book.row().id),
          .state = book.row().state,
          .state_reason = book.row().state_reason,
          .at_parallel_limit = book.AtParallelLimit(),
          .is_ramping = teaching_limit.Holds(book),
          .budget_left = book.SlotsLeft(now) > 0,
          .queued = book.Count(TrialState::kQueued),
          .proposing = book.reserved(),
          .running = book.Count(TrialState::kRunning)};
}

RequestMark MarkOf(v1::AcquireRequest request) {
  // A worker that is about to stop asks again without waiting, which is the
  // same request.
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
  teaching_limit_.Clear();
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
  teaching_limit_.ForgetIf(is_one);
  std::erase_if(samplers_,
                [&](const auto& entry) { return is_one(entry.first); });
  line_.ResumeAll();
  ++epoch_;
  for (const storage::StudyKey study : studies) since_[study] = epoch_;
  return epoch_;
}

void Dispatcher::Park(Batch& batch, ParkedAcquire parked) {
  expected_.NoteAcquire(parked.worker, parked.request.max_leases());
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
  teaching_limit_.ForgetIf(is_over);
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
  if (worker == nullptr) return {};  // cannot be: it is not registered then
  IdleReason nearest{v1::NO_STUDY, "NO_STUDY", "no study is active", ""};
  for (const auto& [key, book] : ledger_.studies()) {
    const std::string& only = parked.request.study();
    const bool is_asked = only.empty() ? IsOpen(book.row().state)
                                       : only == StudyNameOf(book.row().id);
    if (!is_asked) continue;
    const FleetSupply alone =
        CountAlone(ledger_, *worker, book, clock_.Steady());
    IdleReason reason = WhyNothingOf(
        SupplyOf(book, teaching_limit_, clock_.Wall()), alone, disk_);
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
      // The store has just refused: the others are still owed.
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
  if (proposals.status.ok() && proposals.answer.empty()) return;
  const auto made = static_cast<std::int64_t>(proposals.made.size());
  book->Withdraw(proposals.first_number + made, proposals.asked - made);
  if (HasErrorId(proposals.status, ErrorId::kSpaceExhausted)) {
    book->NoteExhausted();
    return ledger_.CompleteIfDone(batch, *book);
  }
  if (!proposals.answer.empty()) {
    book->NoteAnswer(proposals.answer);
    return ledger_.CompleteIfDone(batch, *book);
  }
  // The study could not be read just now: the next request tries again.
  if (absl::IsUnavailable(proposals.status)) return;
  PauseFailed(batch, *book, proposals.status);
}

// Pauses a study whose sampler fails, so that it does not end as if it had
// succeeded. Its trials are kept, it can be resumed, and whoever asks is told
// why.
void Dispatcher::PauseFailed(Batch& batch, StudyBook& book,
                             const absl::Status& why) {
  Log(LogLevel::kError, "sampler_failed",
      {{"study", book.row().id}, {"error", std::string(why.message())}});
  if (!book.IsLeasing()) return;
  (void)ledger_.SetState(batch, book, storage::StudyState::kPaused,
                         absl::StrCat("its sampler failed: ", why.message()));
}

// A turn looks at the calls that wait and at the trials there are. Queued
// trials are given first. For the rest, samplers are asked for proposals, and
// also for slots that have just become free, so that a worker rarely waits for
// a sampler.

namespace {

// Even if only time has passed since the last look, samplers may be late by
// now.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);
// How long a worker waits for one sampler alone.
constexpr Duration kLate = std::chrono::milliseconds(20);

// How many samplers that are known to be slow are asked at a time.
constexpr std::int64_t kMostSlowSamplers = kMostSamplerThreads / 2;

FairShare::Pool PoolOf(const Supply& supply) {
  const auto& settings = supply.book->checked().settings;
  const std::map<std::string, std::string> labels(
      settings.required_worker_labels().begin(),
      settings.required_worker_labels().end());
  FairShare::Pool pool{.priority = supply.priority(), .labels = {}};
  for (const auto& [label, value] : labels) {
    absl::StrAppend(&pool.labels, LabelKey(label, value), ";");
  }
  return pool;
}

}  // namespace

void Dispatcher::Serve(Batch& batch) {
  if (draining_) return;
  const SteadyTime now = clock_.Steady();
  if (line_.size() == 0 && expected_.empty()) return;
  if (disk_.room == storage::Room::kNoNewLeases) return;
  const bool somebody_came = line_.TakeSomebodyCame();
  if (!somebody_came && ledger_.changed().empty() && now < next_look_) return;
  if (now >= next_look_) {
    for (const std::string& worker : ledger_.TakeBackWorkers(batch)) {
      BackInService(worker);
    }
    next_look_ = now + kLookAgain;
  }
  std::vector<Supply> supplies = LookAtSupplies(now);
  GiveQueued(batch, supplies, now);
  WantForWaiting(supplies, now);
  std::sort(supplies.begin(), supplies.end(), GoesBefore);
  expected_.Count(ledger_, now, supplies);
  AskForProposals(supplies, now);
}

std::vector<Supply> Dispatcher::LookAtSupplies(SteadyTime now) {
  std::vector<Supply> supplies =
      FindSupplies(ledger_, teaching_limit_, clock_.Wall());
  looks_ += static_cast<std::int64_t>(supplies.size());
  share_.BeginLook();
  for (Supply& supply : supplies) {
    supply.service_s = share_.Compete(supply.key(), PoolOf(supply), now);
    supply.typical_s = share_.TypicalOf(supply.key());
    supply.pace = PaceOf(*supply.book, now);
  }
  return supplies;
}

SamplerPace Dispatcher::PaceOf(const StudyBook& book, SteadyTime now) {
  const auto found = samplers_.find(book.row().key);
  if (found == samplers_.end()) return SamplerPace::kUnknown;
  const bool is_late =
      book.reserved() > 0 && now - found->second.heard >= kLate;
  return is_late ? SamplerPace::kSlow : found->second.pace;
}

void Dispatcher::NoteHeard(storage::StudyKey study) {
  const SteadyTime now = clock_.Steady();
  Sampler& sampler = samplers_[study];
  sampler.pace =
      now - sampler.heard < kLate ? SamplerPace::kQuick : SamplerPace::kSlow;
  sampler.heard = now;
}

void Dispatcher::GiveQueued(Batch& batch, std::vector<Supply>& supplies,
                            SteadyTime now) {
  SupplyQueue queue;
  for (Supply& supply : supplies) {
    if (supply.queued > 0) queue.Return(supply);
  }
  std::set<Ticket> partly;
  while (!queue.empty()) {
    Supply& supply = queue.TakeFirst();
    const std::optional<Ticket> taker = FindTaker(batch, *supply.book, now);
    if (!taker.has_value()) continue;  // nobody takes more of this study
    ParkedAcquire& parked = line_.At(*taker);
    if (!GrantNext(batch, *supply.book, parked)) continue;
    partly.insert(*taker);
    if (parked.slots_left() == 0) {
      partly.erase(*taker);
      AnswerGranted(batch, line_.Take(*taker));
    }
    supply.service_s = share_.ServiceOf(supply.key(), now);
    if (--supply.queued > 0) queue.Return(supply);
  }
  for (const Ticket ticket : partly) AnswerGranted(batch, line_.Take(ticket));
}

// Asks for one proposal for each slot, not for one of every study. Other
// studies are asked too while a sampler is slow, or is not known to be quick
// and the call has waited (kLate).
void Dispatcher::WantForWaiting(std::vector<Supply>& supplies, SteadyTime now) {
  struct Search {
    Ticket place = 0;
    std::int64_t slots = 0;  // of that place, already asked for here
  };
  std::map<const Supply*, Search> searches;
  std::map<Ticket, std::int64_t> asked;  // slots for which one study suffices
  SupplyQueue queue;
  for (Supply& supply : supplies) {
    if (supply.can_propose > 0) queue.Return(supply);
  }
  // There is only one study, and it owes all it can: nothing is left to find
  // out.
  if (supplies.size() == 1) {
    Supply& only = supplies.front();
    if (only.book->reserved() >= only.can_propose) {
      only.wanted = only.can_propose;
      return;
    }
  }
  std::int64_t unasked = static_cast<std::int64_t>(line_.size());
  // Some threads are kept for quick samplers.
  std::int64_t slow =
      std::count_if(supplies.begin(), supplies.end(), [](const Supply& supply) {
        return supply.pace == SamplerPace::kSlow && supply.book->reserved() > 0;
      });
  while (!queue.empty() && unasked > 0) {
    Supply& supply = queue.TakeFirst();
    const bool is_new_slow = supply.pace == SamplerPace::kSlow &&
                             supply.wanted == 0 && supply.book->reserved() == 0;
    if (is_new_slow && slow >= kMostSlowSamplers) continue;
    Search& search = searches[&supply];
    const auto has_slot = [&](Ticket place) FROSTLINE_ON_LOOP {
      const std::int64_t left = line_.At(place).slots_left() - asked[place];
      return left > (place == search.place ? search.slots : 0);
    };
    std::optional<Ticket> place = search.place;
    if (search.place == 0 || !has_slot(search.place)) {
      do {
        place = NextInService(*supply.book, *place);
      } while (place.has_value() && !has_slot(*place));
      if (!place.has_value()) continue;
      search = {*place, 0};
    }
    const bool has_waited = now - line_.At(*place).came >= kLate;
    const bool asks_on = supply.pace == SamplerPace::kSlow ||
                         (supply.pace != SamplerPace::kQuick && has_waited);
    if (asks_on) {
      ++search.slots;
    } else if (++asked[*place] == line_.At(*place).slots_left()) {
      --unasked;
    }
    if (is_new_slow) ++slow;
    ++supply.wanted;
    supply.service_s += supply.typical_s;
    if (supply.wanted < supply.can_propose) queue.Return(supply);
  }
}

void Dispatcher::AskForProposals(std::vector<Supply>& supplies,
                                 SteadyTime now) {
  for (const Supply& supply : supplies) {
    StudyBook& book = *supply.book;
    const std::int64_t ask =
        std::min(supply.wanted, supply.can_propose) - book.reserved();
    if (ask <= 0) continue;
    if (book.reserved() == 0) samplers_[supply.key()].heard = now;
    const std::int64_t first = book.Reserve(ask);
    proposer_.Propose(supply.key(), first, ask, book.revision());
  }
}

// One grant: to whom, which trial, and its lease.

namespace {

constexpr Duration kTooLate = std::chrono::seconds(1);

// Returns all that must be remembered of a reply: the rest is in the trials'
// rows.
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

// Says whether the worker at the place is in service for the study; sets it
// aside if it is in service for none.
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

// What was granted in this turn belongs to it, and is answered at the turn's
// end.
bool Dispatcher::IsThere(const ParkedAcquire& parked, SteadyTime now) {
  return parked.granted.leases_size() > 0 ||
         (!parked.caller.hung_up() && now - parked.deadline <= kTooLate);
}

// A worker that has waited too long without the boundary gets the next trial;
// no trial waits for a worker that is busy.
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

// Returns the trials that may change places with the one whose turn it is.
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
  // A repetition of the request finds by this id what it was granted.
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
