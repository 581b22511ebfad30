// SPDX-License-Identifier: Apache-2.0
//
// One look at who waits and what there is. Queued trials are given first;
// proposals are asked for the rest, and ahead for slots that have just become
// free, so that a worker rarely waits for a sampler.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/dispatch/dispatcher.h"

namespace frostline::server {
namespace {

// Nothing but time has passed since the last look: samplers may have got late.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);
// A worker waits so long for one sampler alone.
constexpr Duration kLate = std::chrono::milliseconds(20);

// So many that are known to be slow are asked at a time.
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
