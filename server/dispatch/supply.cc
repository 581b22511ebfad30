// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/supply.h"

#include <algorithm>

#include "server/wire/auto_precision.h"

namespace frostline::server {
namespace {

// Who has not asked for so long has gone.
constexpr Duration kExpectedFor = std::chrono::seconds(5);

// The order of a heap whose top goes first.
bool GoesAfter(const Supply* a, const Supply* b) { return GoesBefore(*b, *a); }

}  // namespace

std::vector<Supply> FindSupplies(Ledger& ledger, Ramp& ramp, WallMicros now) {
  std::vector<Supply> supplies;
  for (auto& [key, book] : ledger.studies()) {
    if (!book.IsLeasing() || book.AtParallelLimit()) continue;
    Supply supply;
    supply.book = &book;
    supply.queued = book.Count(TrialState::kQueued);
    supply.can_propose =
        std::min({book.SlotsLeft(now) + book.reserved(), book.ParallelLeft(),
                  ramp.LeftFor(book), kMostProposalsAtOnce});
    if (supply.queued + supply.can_propose > 0) supplies.push_back(supply);
  }
  return supplies;
}

bool GoesBefore(const Supply& a, const Supply& b) {
  if (a.priority() != b.priority()) return a.priority() > b.priority();
  if (a.service_s != b.service_s) return a.service_s < b.service_s;
  return a.key() < b.key();
}

void SupplyQueue::Return(Supply& supply) {
  heap_.push_back(&supply);
  std::push_heap(heap_.begin(), heap_.end(), GoesAfter);
}

Supply& SupplyQueue::TakeFirst() {
  std::pop_heap(heap_.begin(), heap_.end(), GoesAfter);
  Supply& first = *heap_.back();
  heap_.pop_back();
  return first;
}

std::string WhatBookLacks(const StockPtr& stock, const StudyBook& book) {
  return WhatLacks(stock, book.checked().spec,
                   DecidedPrecision(book.checked()));
}

bool MayServe(const WorkerEntry& worker, const StudyBook& book) {
  return CarriesLabels(worker.info,
                       book.checked().settings.required_worker_labels()) &&
         WhatBookLacks(worker.stock, book).empty();
}

FleetSupply CountAlone(const Ledger& ledger, const WorkerEntry& worker,
                       const StudyBook& book, SteadyTime now) {
  FleetSupply alone{.who = "this worker", .live = 1, .free_slots = 1};
  const auto& required = book.checked().settings.required_worker_labels();
  if (!CarriesLabels(worker.info, required)) return alone;
  alone.what_lacks = WhatBookLacks(worker.stock, book);
  alone.lacking = alone.what_lacks.empty() ? 0 : 1;
  if (alone.lacking > 0) return alone;
  const storage::StudyKey study = book.row().key;
  if (ledger.blame().MayTry(worker.row.id, study, now)) {
    alone.matching = 1;
  } else {
    alone.kept = 1;
    alone.why_kept = ledger.blame().WhyKept(worker.row.id, study).value_or("");
  }
  return alone;
}

FleetSupply CountFleet(const Ledger& ledger, const StudyBook& book,
                       const Clock& clock) {
  FleetSupply supply;
  const WallMicros now = clock.Wall();
  for (const auto& [id, worker] : ledger.workers().all()) {
    if (IsGone(worker, now, ledger.default_lease().ttl)) continue;
    ++supply.live;
    const FleetSupply alone = CountAlone(ledger, worker, book, clock.Steady());
    if (alone.lacking > 0) {
      ++supply.lacking;
      supply.what_lacks = alone.what_lacks;
    }
    if (!MayServe(worker, book)) continue;
    if (worker.row.state != storage::WorkerState::kActive) {
      ++supply.out_of_service;
      continue;
    }
    if (alone.kept > 0) {
      ++supply.kept;
      supply.why_kept = alone.why_kept;
      continue;
    }
    ++supply.matching;
    // A worker that has registered with fewer slots may hold more.
    supply.free_slots += std::max<std::int64_t>(
        0,
        worker.info.slots() - static_cast<std::int64_t>(worker.holds.size()));
  }
  return supply;
}

void ExpectedSlots::Expect(const std::string& worker, std::int64_t slots,
                           SteadyTime now) {
  Expected& expected = expected_[worker];
  expected.slots = std::min(expected.slots + slots, kMostProposalsAtOnce);
  expected.until = now + kExpectedFor;
}

void ExpectedSlots::Asked(const std::string& worker, std::int64_t slots) {
  const auto expected = expected_.find(worker);
  if (expected == expected_.end()) return;
  expected->second.slots -= slots;
  if (expected->second.slots <= 0) expected_.erase(expected);
}

void ExpectedSlots::Count(Ledger& ledger, SteadyTime now,
                          std::vector<Supply>& supplies) {
  std::erase_if(expected_,
                [now](const auto& entry) { return entry.second.until <= now; });
  for (const auto& [id, expected] : expected_) {
    const WorkerEntry* const worker = ledger.workers().Find(id);
    if (worker == nullptr ||
        worker->row.state != storage::WorkerState::kActive) {
      continue;
    }
    std::int64_t slots = expected.slots;
    for (Supply& supply : supplies) {
      if (slots == 0) break;
      const bool may = MayServe(*worker, *supply.book) &&
                       ledger.blame().MayTry(id, supply.key(), now);
      if (!may) continue;
      const std::int64_t from_queue = std::min(slots, supply.queued);
      supply.queued -= from_queue;
      const std::int64_t proposed = std::max<std::int64_t>(
          0, std::min(slots - from_queue, supply.can_propose - supply.wanted));
      supply.wanted += proposed;
      slots -= from_queue + (supply.pace == SamplerPace::kSlow ? 0 : proposed);
    }
  }
}

void ExpectedSlots::TakeOff(Ledger& ledger, SteadyTime now,
                            std::vector<Unclaimed>& unclaimed) const {
  std::int64_t proposing = 0;
  for (const Unclaimed& one : unclaimed) proposing += one.book->reserved();
  for (const auto& [id, expected] : expected_) {
    const WorkerEntry* const worker = ledger.workers().Find(id);
    if (expected.until <= now || worker == nullptr) continue;
    if (worker->row.state != storage::WorkerState::kActive) continue;
    const std::int64_t theirs = std::min(expected.slots, proposing);
    proposing -= theirs;
    std::int64_t slots = expected.slots - theirs;
    for (Unclaimed& one : unclaimed) {
      if (slots == 0) break;
      if (one.trials == 0 || !MayServe(*worker, *one.book)) continue;
      const std::int64_t taken = std::min(slots, one.trials);
      one.trials -= taken;
      slots -= taken;
    }
  }
}

}  // namespace frostline::server
