// SPDX-License-Identifier: Apache-2.0
//
// One look at who waits and what there is. Queued trials are given first;
// proposals are asked for the rest, and ahead for slots that have just become
// free, so that a worker rarely waits for a sampler.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "server/dispatch/dispatcher.h"
#include "server/wire/convert.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

constexpr Duration kTooLate = std::chrono::seconds(1);
// Nothing but time has passed since the last look: samplers may have got late.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);
// A worker waits so long for one sampler alone.
constexpr Duration kLate = std::chrono::milliseconds(20);

// So many that are known to be slow are asked at a time.
constexpr std::int64_t kMostSlowSamplers = kMostSamplerThreads / 2;

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
  std::vector<Supply> supplies = FindSupplies(ledger_, ramp_, clock_.Wall());
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

std::optional<Ticket> Dispatcher::NextInService(const StudyBook& book,
                                                Ticket after) {
  std::optional<Ticket> place = line_.NextFor(book, after);
  for (; place.has_value(); place = line_.NextFor(book, *place)) {
    const ParkedAcquire& parked = line_.At(*place);
    const WorkerEntry* const worker = ledger_.workers().Find(parked.worker);
    const bool in_service =
        worker != nullptr &&
        worker->row.state == storage::WorkerState::kActive &&
        worker->row.boot_id == parked.request.boot_id();
    if (!in_service) {
      line_.SetAside(*place);
    } else if (ledger_.blame().MayTry(parked.worker, book.row().key,
                                      clock_.Steady())) {
      return place;
    }
  }
  return std::nullopt;
}

std::optional<Ticket> Dispatcher::FindTaker(Batch& batch, const StudyBook& book,
                                            SteadyTime now) {
  while (const auto place = NextInService(book, 0)) {
    const ParkedAcquire& parked = line_.At(*place);
    // What was granted in this turn is its own, and answered at its end.
    const bool gone =
        parked.granted.leases_size() == 0 &&
        (parked.caller.hung_up() || now - parked.deadline > kTooLate);
    if (!gone) return place;
    ParkedAcquire left = line_.Take(*place);
    AnswerNone(batch, left);
  }
  return std::nullopt;
}

bool Dispatcher::GrantNext(Batch& batch, StudyBook& book,
                           ParkedAcquire& parked) {
  if (book.AtParallelLimit()) return false;
  const std::optional<std::int64_t> number = book.NextQueued(parked.worker);
  if (!number.has_value()) return false;
  const storage::TrialRow& queued = book.Find(*number)->row;
  const bool first_attempt = queued.attempt == 0;
  const SecretString secret = ledger_.lease_secrets().Draw(
      {queued.study, queued.number}, queued.attempt + 1);
  Transition grant =
      Grant(*book.Find(*number), parked.worker, parked.request.boot_id(),
            AsStored(secret), clock_.Wall());
  // By it a repetition of the request finds what it was granted.
  grant.attempts.front().request_id = parked.request.request_id();
  if (!ledger_.Apply(batch, book, std::move(grant)).ok()) return false;
  FROSTLINE_FAILPOINT(kGrantWritten);
  ledger_.RenewLease(book, *number);
  share_.Began({book.row().key, *number}, clock_.Steady());
  ledger_.blame().NoteTry(parked.worker, {book.row().key, *number},
                          clock_.Steady());
  const OpenTrial& leased = *book.Find(*number);
  if (!first_attempt) {
    proposer_.Began(book.row().key, *number, leased.row.point,
                    NotedSeedOf(leased.row));
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

// One proposal for one slot, not one of every study; but nobody waits for a
// slow sampler alone, nor for long to learn that one is slow.
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
  // One study alone that owes all it can: there is nothing to find out.
  if (supplies.size() == 1) {
    Supply& only = supplies.front();
    if (only.book->reserved() >= only.can_propose) {
      only.wanted = only.can_propose;
      return;
    }
  }
  std::int64_t unasked = static_cast<std::int64_t>(line_.size());
  // Threads are left for quick samplers.
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

}  // namespace frostline::server
