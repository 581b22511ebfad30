// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/supply.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sampler/factory.h"
#include "server/search/sampler_choice.h"
#include "server/wire/spec.h"

namespace frostline::server {

std::int64_t TeachingLimit::LeftFor(const StudyBook& book) {
  if (book.checked().settings.max_parallel() > 0) return sampler::kNoLimit;
  Known& known = studies_[book.row().key];
  if (known.ends_stamp != book.ends_stamp()) {
    ++computed_;
    known = {.ends_stamp = book.ends_stamp(),
             .teaching = TeachingParallelismOf(book.checked(), book.Counts())};
  }
  return std::max<std::int64_t>(0, known.teaching -
                                       book.Count(TrialState::kRunning) -
                                       book.Count(TrialState::kQueued));
}

void TeachingLimit::ForgetIf(
    absl::FunctionRef<bool(storage::StudyKey)> is_over) {
  std::erase_if(studies_,
                [&](const auto& entry) { return is_over(entry.first); });
}

std::int64_t CountUnclaimed(const StudyBook& book,
                            TeachingLimit& teaching_limit, WallMicros now) {
  if (!book.IsLeasing()) return 0;
  const auto without_proposing = [&book](std::int64_t left) {
    return std::max<std::int64_t>(0, left - book.reserved());
  };
  const std::int64_t may_begin = std::min(
      book.SlotsLeft(now), without_proposing(teaching_limit.LeftFor(book)));
  return std::min(without_proposing(book.ParallelLeft()),
                  book.Count(TrialState::kQueued) + may_begin);
}

namespace {

// Returns "1 worker", "2 workers".
std::string Counted(std::int64_t count, const std::string& one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

// What begins a lack that is no model and no data.
constexpr char kATrainer[] = "a trainer of its own: ";

// The lack of a study that names neither a model nor a trainer.
constexpr char kAModelsId[] =
    "a trainer for a study without model.id and without trainer";

// For workers of a trainer of somebody's own.
IdleReason NamesNoTrainer(const StudySupply& study, const FleetSupply& fleet) {
  const std::string trainer =
      fleet.what_lacks.substr(std::string(kATrainer).size());
  return {v1::NOT_IN_STOCK, "NOT_IN_STOCK",
          absl::StrCat(study.name, " names no trainer, and ", fleet.who,
                       " runs one of its own (", trainer,
                       "), for studies that name it"),
          absl::StrCat("write trainer: ", trainer,
                       " into the study, give the worker --study ID, or start "
                       "one with --registry DIR")};
}

std::optional<IdleReason> WhyNobodyTakes(const StudySupply& study,
                                         const FleetSupply& fleet) {
  if (fleet.live == 0) {
    return IdleReason{
        v1::NO_MATCHING_LABELS, "NO_WORKERS", "no worker has been heard of",
        "start one: frostline worker --connect HOST:PORT --registry "
        "DIR"};
  }
  if (fleet.out_of_service > 0) {
    return IdleReason{
        v1::QUARANTINED, "WORKERS_OUT_OF_SERVICE",
        absl::StrCat(Counted(fleet.out_of_service, "worker"),
                     fleet.out_of_service == 1 ? " is" : " are",
                     " drained or quarantined"),
        "see their failures, then take them back with drain --undo"};
  }
  if (fleet.matching == 0 && fleet.kept > 0) {
    return IdleReason{
        v1::QUARANTINED, "WORKERS_KEPT_AWAY",
        absl::StrCat(study.name, " failed too often on ", fleet.who, ": ",
                     fleet.why_kept),
        "mend the cause, then drain --undo the worker; it is tried again after "
        "a pause"};
  }
  if (fleet.matching == 0 && fleet.lacking > 0) {
    if (absl::StartsWith(fleet.what_lacks, kATrainer)) {
      return NamesNoTrainer(study, fleet);
    }
    if (fleet.what_lacks == kAModelsId) {
      return IdleReason{
          v1::NOT_IN_STOCK, "NOT_IN_STOCK",
          absl::StrCat(study.name, " names no model and no trainer, and ",
                       fleet.who, " trains models of its registry"),
          "make the study anew with model: {id: ...} of a registry, or with "
          "trainer: NAME for a trainer of your own"};
    }
    if (absl::StartsWith(fleet.what_lacks, "the precision ")) {
      return IdleReason{
          v1::NOT_IN_STOCK, "NOT_IN_STOCK",
          absl::StrCat(study.name, " goes on in ", fleet.what_lacks,
                       ", as its first trial began, and ", fleet.who,
                       " does not compute in it at full speed"),
          "start a worker like the first one, or make the study anew with "
          "training.precision: fp32"};
    }
    return IdleReason{
        v1::NOT_IN_STOCK, "NOT_IN_STOCK",
        absl::StrCat(study.name, " needs ", fleet.what_lacks,
                     ", which is in no registry of ", fleet.who),
        "add it to models.yaml or datasets.yaml of a node, with its files; "
        "workers see it within seconds"};
  }
  if (fleet.matching == 0) {
    return IdleReason{
        v1::NO_MATCHING_LABELS, "NO_MATCHING_LABELS",
        absl::StrCat(study.name, " asks for labels that are not carried by ",
                     fleet.who),
        "start workers with --label, or change required_worker_labels"};
  }
  return std::nullopt;
}

IdleReason AllGiven(const StudySupply& study) {
  return {v1::BUDGET_REACHED, "BUDGET_REACHED",
          absl::StrCat(study.name, ": all trials of the budget are ended or ",
                       "leased, ", study.running, " running"),
          "raise the budget for more"};
}

}  // namespace

std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk) {
  std::vector<IdleReason> reasons;
  const auto say = [&reasons](IdleReason reason) {
    reasons.push_back(std::move(reason));
  };
  const std::string why =
      study.state_reason.empty() ? "" : absl::StrCat(": ", study.state_reason);
  if (study.state == storage::StudyState::kPaused) {
    say({v1::STUDY_PAUSED, "PAUSED",
         absl::StrCat(study.name, " is paused", why), "resume it"});
  } else if (study.state != storage::StudyState::kActive) {
    say({v1::STUDY_ENDED, "ENDED", absl::StrCat(study.name, " has ended", why),
         ""});
    return reasons;
  }
  if (disk.room == storage::Room::kNoNewLeases) {
    say({v1::DISK_NEARLY_FULL, "DISK_NEARLY_FULL",
         absl::StrCat("the coordinator's disk has ", disk.free_bytes >> 20,
                      " MiB left; what runs may end, nothing begins"),
         "make room on it"});
  }
  if (auto nobody = WhyNobodyTakes(study, fleet)) say(*std::move(nobody));
  if (study.at_parallel_limit) {
    say({v1::PARALLEL_LIMIT, "PARALLEL_LIMIT",
         absl::StrCat(study.name, " runs max_parallel trials (", study.running,
                      ")"),
         "raise max_parallel"});
  }
  if (study.is_ramping && study.budget_left && fleet.free_slots > 0) {
    say({v1::PARALLEL_LIMIT, "RAMPING",
         absl::StrCat(study.name, " runs as many trials as its sampler can ",
                      "learn from yet (", study.running,
                      "); more would begin blind"),
         "wait, or set max_parallel to begin so many at a time"});
  }
  if (fleet.matching > 0 && fleet.free_slots <= 0) {
    say({v1::NONE_REASON_UNSPECIFIED, "ALL_SLOTS_BUSY",
         "every matching worker is busy", "add workers or slots"});
  }
  const bool nothing_queued = study.queued == 0;
  if (nothing_queued && study.proposing > 0 && study.running == 0) {
    say({v1::SAMPLER_BUSY, "SAMPLER_BUSY",
         absl::StrCat(study.name, " is proposing ",
                      Counted(study.proposing, "trial")),
         ""});
  }
  if (nothing_queued && study.proposing == 0 && !study.budget_left) {
    say(AllGiven(study));
  }
  return reasons;
}

std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker) {
  if (worker.coordinator_drains) {
    return IdleReason{v1::DRAINING, "DRAINING",
                      "the coordinator is shutting down", ""};
  }
  if (!worker.is_registered) {
    return IdleReason{v1::DRAINING, "DRAINING",
                      "the worker has registered anew", ""};
  }
  if (worker.state == storage::WorkerState::kDraining) {
    return IdleReason{v1::DRAINING, "DRAINING", "this worker is drained", ""};
  }
  if (worker.state == storage::WorkerState::kQuarantined) {
    return IdleReason{
        v1::QUARANTINED, "QUARANTINED",
        absl::StrCat(Counted(worker.failures_in_a_row, "failure"), " in a row",
                     worker.cause.empty() ? "" : "; the last: ", worker.cause,
                     "; mend the cause, then frostline worker drain ID --undo, "
                     "or start it again; it is tried again after a pause"),
        ""};
  }
  return std::nullopt;
}

IdleReason WhyNothingOf(const StudySupply& study, const FleetSupply& worker,
                        const storage::DiskRoom& disk) {
  std::vector<IdleReason> reasons = WhyIdle(study, worker, disk);
  if (!reasons.empty()) return std::move(reasons.front());
  if (study.proposing > 0) {
    return {v1::SAMPLER_BUSY, "SAMPLER_BUSY", study.name + " is proposing", ""};
  }
  return AllGiven(study);
}

bool IsNearer(const IdleReason& candidate, const IdleReason& than) {
  return than.none == v1::NO_STUDY || candidate.none > than.none;
}

namespace {

// A worker that has not asked for so long has gone.
constexpr Duration kExpectedFor = std::chrono::seconds(5);

// The order of a heap whose top goes first.
bool GoesAfter(const Supply* a, const Supply* b) { return GoesBefore(*b, *a); }

}  // namespace

std::vector<Supply> FindSupplies(Ledger& ledger, TeachingLimit& teaching_limit,
                                 WallMicros now) {
  std::vector<Supply> supplies;
  for (auto& [key, book] : ledger.studies()) {
    if (!book.IsLeasing() || book.AtParallelLimit()) continue;
    Supply supply;
    supply.book = &book;
    supply.queued = book.Count(TrialState::kQueued);
    supply.can_propose =
        std::min({book.SlotsLeft(now) + book.reserved(), book.ParallelLeft(),
                  teaching_limit.LeftFor(book), kMostProposalsAtOnce});
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
  // Whether it is this worker's trainer, the labels decide.
  const auto& required = book.checked().settings.required_worker_labels();
  const bool names_none = !required.contains(kTrainerLabel);
  if (stock != nullptr && names_none && !stock->own_trainer().empty()) {
    return absl::StrCat(kATrainer, stock->own_trainer());
  }
  const v1::StudySpec& spec = book.checked().spec;
  if (stock != nullptr && names_none && stock->trains_by_id() &&
      spec.model().id().empty()) {
    return kAModelsId;
  }
  return WhatLacks(stock, spec, DecidedPrecision(book.checked()));
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

void ExpectedSlots::NoteAcquire(const std::string& worker, std::int64_t slots) {
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
