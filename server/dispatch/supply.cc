// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/supply.h"

#include <algorithm>

namespace frostline::server {
namespace {

// Who has not asked for so long has gone.
constexpr Duration kExpectedFor = std::chrono::seconds(5);

}  // namespace

std::vector<Supply> FindSupplies(Ledger& ledger, WallMicros now) {
  std::vector<Supply> supplies;
  for (auto& [key, book] : ledger.studies()) {
    if (!book.IsLeasing() || book.AtParallelLimit()) continue;
    Supply supply;
    supply.book = &book;
    supply.queued = book.Count(TrialState::kQueued);
    supply.can_propose = std::min({book.SlotsLeft(now) + book.reserved(),
                                   book.ParallelLeft(), kMostProposalsAtOnce});
    if (supply.queued + supply.can_propose > 0) supplies.push_back(supply);
  }
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

bool MayServe(const WorkerEntry& worker, const StudyBook& book) {
  return CarriesLabels(worker.info,
                       book.checked().settings.required_worker_labels());
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
      if (!MayServe(*worker, *supply.book)) continue;
      const std::int64_t from_queue = std::min(slots, supply.queued);
      supply.queued -= from_queue;
      const std::int64_t proposed = std::max<std::int64_t>(
          0, std::min(slots - from_queue, supply.can_propose - supply.wanted));
      supply.wanted += proposed;
      slots -= from_queue + proposed;
    }
  }
}

}  // namespace frostline::server
