// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/study_book.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/trial.pb.h"
#include "proto/rules.h"
#include "server/wire/spec.h"

namespace frostline::server {

// With one objective the earlier of two equals stays, so it beats the later
// one.
bool BestTrials::Beats(const Losses& a, const Losses& b) {
  ++comparisons_;
  return Dominates(a, b) || (objectives_.size() == 1 && a == b);
}

// Those before `after` are at least as good in the first objective.
bool BestTrials::IsDominated(const Losses& losses,
                             Front::const_iterator after) {
  for (auto before = after; before != front_.begin();) {
    --before;
    if (Beats(before->first, losses)) return true;
    // With two losses, the last one before has the lowest second loss. Others
    // that are equal to it tell nothing new.
    if (losses.size() <= 2) return false;
  }
  return false;
}

void BestTrials::DropDominated(const Losses& losses, Front::iterator from) {
  while (from != front_.end()) {
    if (Beats(losses, from->first)) {
      from = front_.erase(from);
    } else if (losses.size() <= 2) {
      return;  // the stair is below from here on
    } else {
      ++from;
    }
  }
}

bool BestTrials::Offer(std::int64_t number, const std::vector<double>& values) {
  const double violation =
      values.size() > objectives_.size() ? values.back() : 0.0;
  if (violation > least_violation_) return false;
  if (violation < least_violation_) front_.clear();
  least_violation_ = violation;
  Losses losses;
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    losses.push_back(AsLoss(objectives_[i], values[i]));
  }
  const auto after = front_.upper_bound(losses);
  if (IsDominated(losses, after)) return false;
  DropDominated(losses, after);
  front_.emplace(std::move(losses), number);  // behind its twins
  return true;
}

std::vector<std::int64_t> BestTrials::Numbers(std::size_t most) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(std::min(most, front_.size()));
  for (const auto& [losses, number] : front_) {
    if (numbers.size() == most) break;
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<BestTrials::Best> BestTrials::First() const {
  if (front_.empty()) return std::nullopt;
  const auto& [losses, number] = *front_.begin();
  Best best{.number = number, .values = {}};
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    // AsLoss applied twice gives the value again.
    best.values.push_back(AsLoss(objectives_[i], losses[i]));
  }
  return best;
}

namespace {

std::int64_t Whole(double value) {
  if (!std::isfinite(value) || value <= 0) return 0;
  constexpr auto kMost = static_cast<double>(TrialCost::kMostCost);
  return std::llround(std::min(value, kMost));
}

void AddToCost(std::int64_t& sum, std::int64_t more) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  sum = sum > kMost - more ? kMost : sum + more;
}

// Returns the work that sharing saved, less the work to make it possible: the
// mean boundary was used hits / misses times, and computed once.
double SavedBySharing(const storage::SummaryRow& summary) {
  if (summary.prefix_hits == 0) return 0.0;
  const double computed =
      std::min(1.0, static_cast<double>(summary.prefix_misses) /
                        static_cast<double>(summary.prefix_hits));
  return static_cast<double>(summary.mega_flops_shared) * (1.0 - computed);
}

void Estimate(const storage::SummaryRow& summary, double saved,
              v1::SecondsRange& range) {
  const double seconds = static_cast<double>(summary.total_us) * 1e-6;
  const double at_mean =
      seconds * saved / static_cast<double>(summary.mega_flops_spent);
  const double at_fastest =
      saved / static_cast<double>(summary.fastest_mega_flops);
  range.set_least(seconds + std::min(at_fastest, at_mean));
  range.set_most(seconds + at_mean);
}

}  // namespace

TrialCost CostOf(const storage::TrialRow& row) {
  TrialCost cost;
  v1::Usage usage;
  if (row.usage.empty() || !usage.ParseFromString(row.usage)) return cost;
  cost.train_us = Whole(usage.train_seconds() * 1e6);
  cost.total_us = Whole(usage.total_seconds() * 1e6);
  cost.mega_flops_spent = Whole(usage.flops_spent() * 1e-6);
  cost.mega_flops_skipped = Whole(usage.flops_skipped() * 1e-6);
  cost.mega_flops_shared = Whole(usage.flops_shared() * 1e-6);
  cost.prefix_hits = Whole(static_cast<double>(usage.prefix_hits()));
  cost.prefix_misses = Whole(static_cast<double>(usage.prefix_misses()));
  cost.prefix_bytes = Whole(static_cast<double>(usage.prefix_bytes()));
  cost.energy_millijoules = Whole(usage.energy_joules() * 1e3);
  return cost;
}

void AddCost(const storage::TrialRow& row, storage::SummaryRow& summary) {
  if (row.origin == storage::TrialOrigin::kImported) return;
  const TrialCost cost = CostOf(row);
  // `total` covers only the last attempt, `train` all attempts that led to it.
  const std::int64_t total_us = std::max(cost.train_us, cost.total_us);
  if (total_us == 0 && cost.mega_flops_spent == 0) return;
  AddToCost(summary.costed, 1);
  AddToCost(summary.train_us, cost.train_us);
  AddToCost(summary.total_us, total_us);
  AddToCost(summary.mega_flops_spent, cost.mega_flops_spent);
  AddToCost(summary.mega_flops_skipped, cost.mega_flops_skipped);
  AddToCost(summary.mega_flops_shared, cost.mega_flops_shared);
  AddToCost(summary.prefix_hits, cost.prefix_hits);
  AddToCost(summary.prefix_misses, cost.prefix_misses);
  AddToCost(summary.prefix_bytes, cost.prefix_bytes);
  if (total_us == 0) return;
  summary.fastest_mega_flops =
      std::max(summary.fastest_mega_flops,
               Whole(static_cast<double>(cost.mega_flops_spent) /
                     (static_cast<double>(total_us) * 1e-6)));
}

v1::StudyUsage UsageOf(const storage::SummaryRow& summary) {
  v1::StudyUsage usage;
  usage.set_trials(summary.costed);
  usage.set_train_seconds(static_cast<double>(summary.train_us) * 1e-6);
  usage.set_total_seconds(static_cast<double>(summary.total_us) * 1e-6);
  usage.set_flops_spent(static_cast<double>(summary.mega_flops_spent) * 1e6);
  usage.set_flops_skipped(static_cast<double>(summary.mega_flops_skipped) *
                          1e6);
  usage.set_flops_shared(static_cast<double>(summary.mega_flops_shared) * 1e6);
  usage.set_prefix_hits(summary.prefix_hits);
  usage.set_prefix_misses(summary.prefix_misses);
  usage.set_prefix_bytes(summary.prefix_bytes);
  usage.set_fastest_flops_per_second(
      static_cast<double>(summary.fastest_mega_flops) * 1e6);
  if (summary.mega_flops_spent == 0 || summary.fastest_mega_flops == 0) {
    return usage;
  }
  const double shared = SavedBySharing(summary);
  if (shared > 0) Estimate(summary, shared, *usage.mutable_without_sharing());
  if (summary.mega_flops_skipped > 0) {
    Estimate(summary, shared + static_cast<double>(summary.mega_flops_skipped),
             *usage.mutable_without_freezing());
  }
  return usage;
}

StudyBook::StudyBook(storage::StudyRow row,
                     std::shared_ptr<const CheckedStudy> checked)
    : row_(std::move(row)),
      checked_(std::move(checked)),
      revision_(row_.revision),
      best_(checked_->objectives) {}

std::int64_t StudyBook::NextStamp() {
  // A study gets a new book when memory is loaded again, so stamps go on across
  // books.
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

void StudyBook::AbsorbStudy(const storage::StudyRow& row) {
  if (!IsOpen(row_.state) && IsOpen(row.state)) answer_.clear();
  row_ = row;
  revision_ = std::max(revision_, row.revision);
}

void StudyBook::Forget(const storage::TrialRow& row) {
  const auto found = open_.find(row.number);
  if (found == open_.end()) return;
  const storage::TrialRow& old = found->second.row;
  --counts_[static_cast<std::size_t>(old.state)];
  if (CountsTowardsBudget(old.origin)) --open_counted_;
  queue_.erase(PlaceOf(old));
  queued_since_.erase(SinceOf(found->second));
}

void StudyBook::Absorb(const storage::TrialRow& row,
                       const std::optional<storage::AttemptRow>& attempt) {
  Forget(row);
  ++counts_[static_cast<std::size_t>(row.state)];
  revision_ = std::max(revision_, row.revision);
  next_number_ = std::max(next_number_, row.number + 1);
  OpenTrial& trial = open_[row.number];
  trial.row = row;
  if (attempt.has_value()) trial.attempt = *attempt;
  const bool counts = CountsTowardsBudget(row.origin);
  if (!IsTerminal(row.state)) {
    if (counts) ++open_counted_;
    if (row.state == TrialState::kQueued) {
      queue_.insert(PlaceOf(row));
      queued_since_.insert(SinceOf(trial));
    }
    return;
  }
  if (counts) ++ended_.budget_used;
  ends_stamp_ = NextStamp();
  AddCost(row, ended_);
  ended_.next_number = std::max(ended_.next_number, row.number + 1);
  ended_.revision = std::max(ended_.revision, row.revision);
  ended_changed_ = true;
  if (row.state == TrialState::kSucceeded) {
    std::vector<double> ranked = RankedValuesOf(row, checked_->spec);
    if (best_.Offer(row.number, ranked)) {
      new_best_.push_back({row_.key, row.number, std::move(ranked)});
    }
  }
  just_ended_[row.number] = std::move(trial);
  open_.erase(row.number);
}

void StudyBook::AbsorbEnded(const storage::TrialRow& row) {
  revision_ = row.revision;
  ends_stamp_ = NextStamp();
  ended_.revision = row.revision;
  ended_changed_ = true;
  just_ended_[row.number].row = row;
}

void StudyBook::AbsorbSummary(const storage::SummaryRow& summary,
                              const std::vector<storage::BestRow>& best) {
  ended_ = summary;
  counts_[static_cast<std::size_t>(TrialState::kSucceeded)] = summary.succeeded;
  counts_[static_cast<std::size_t>(TrialState::kPruned)] = summary.pruned;
  counts_[static_cast<std::size_t>(TrialState::kInfeasible)] =
      summary.infeasible;
  counts_[static_cast<std::size_t>(TrialState::kFailed)] = summary.failed;
  counts_[static_cast<std::size_t>(TrialState::kCancelled)] = summary.cancelled;
  next_number_ = std::max(next_number_, summary.next_number);
  revision_ = std::max(revision_, summary.revision);
  for (const storage::BestRow& row : best) best_.Offer(row.number, row.values);
}

storage::SummaryRow StudyBook::Summary() const {
  storage::SummaryRow summary = ended_;
  summary.study = row_.key;
  summary.succeeded = Count(TrialState::kSucceeded);
  summary.pruned = Count(TrialState::kPruned);
  summary.infeasible = Count(TrialState::kInfeasible);
  summary.failed = Count(TrialState::kFailed);
  summary.cancelled = Count(TrialState::kCancelled);
  return summary;
}

std::optional<StudyBook::Ended> StudyBook::TakeEnded() {
  if (!std::exchange(ended_changed_, false)) return std::nullopt;
  return Ended{Summary(), std::exchange(new_best_, {})};
}

const OpenTrial* StudyBook::Find(std::int64_t number) const {
  const auto open = open_.find(number);
  if (open != open_.end()) return &open->second;
  const auto ended = just_ended_.find(number);
  return ended == just_ended_.end() ? nullptr : &ended->second;
}

std::int64_t StudyBook::Reserve(std::int64_t count) {
  const std::int64_t first = next_number_;
  next_number_ += count;
  reserved_ += count;
  return first;
}

void StudyBook::Arrived() { --reserved_; }

void StudyBook::Withdraw(std::int64_t number, std::int64_t count) {
  reserved_ -= count;
  // Numbers have no gaps, unless a later one was given out meanwhile.
  if (next_number_ == number + count) next_number_ = number;
}

std::optional<std::int64_t> StudyBook::NextQueued(
    const std::string& worker) const {
  if (queue_.empty()) return std::nullopt;
  constexpr int kLookedAt = 64;  // bounds the work of one answer
  int looked_at = 0;
  for (const auto& [priority, prepared, number] : queue_) {
    if (++looked_at > kLookedAt) break;
    const OpenTrial& trial = open_.at(number);
    const bool may_go_on = trial.attempt.state == AttemptState::kLost ||
                           trial.attempt.state == AttemptState::kPreempted ||
                           trial.attempt.state == AttemptState::kReleased;
    if (may_go_on && trial.row.worker == worker) return number;
  }
  return std::get<2>(*queue_.begin());
}

std::vector<std::int64_t> StudyBook::QueuedAlike(std::int64_t number,
                                                 std::size_t most) const {
  std::vector<std::int64_t> alike = {number};
  const storage::TrialRow& first = open_.at(number).row;
  if (first.attempt > 0) return alike;
  const auto [priority, prepared, own] = PlaceOf(first);
  auto place = queue_.upper_bound({priority, prepared, own});
  for (; place != queue_.end() && alike.size() < most; ++place) {
    const auto [its_priority, is_prepared, its_number] = *place;
    if (its_priority != priority || is_prepared != prepared ||
        open_.at(its_number).row.attempt > 0) {
      break;
    }
    alike.push_back(its_number);
  }
  return alike;
}

std::int64_t StudyBook::ParallelLeft() const {
  const int limit = checked_->settings.max_parallel();
  if (limit == 0) return proto::MostOf<v1::Budget>("trials");
  return std::max<std::int64_t>(0, limit - Count(TrialState::kRunning));
}

bool StudyBook::TimeIsUp(WallMicros now) const {
  const v1::Budget& budget = checked_->settings.budget();
  const std::int64_t time_us =
      budget.time().seconds() * 1'000'000 + budget.time().nanos() / 1000;
  const bool wall = time_us > 0 && now - row_.created >= time_us;
  const bool training =
      budget.training_seconds() > 0 &&
      static_cast<double>(ended_.train_us) >= budget.training_seconds() * 1e6;
  return wall || training;
}

std::int64_t StudyBook::SlotsLeft(WallMicros now) const {
  if (exhausted_ || !answer_.empty() || TimeIsUp(now)) return 0;
  return std::max<std::int64_t>(
      0, checked_->settings.budget().trials() - BudgetTaken());
}

std::string StudyBook::ReasonToComplete(WallMicros now) const {
  if (!IsOpen(row_.state)) return "";
  if (!open_.empty() || reserved_ > 0) return "";
  const std::int64_t budget = checked_->settings.budget().trials();
  const std::int64_t failed = Count(TrialState::kFailed);
  const std::string bad =
      failed == 0 ? ""
                  : absl::StrCat("; ", failed, " of ", CountEnded(), " failed");
  if (ended_.budget_used >= budget) {
    return absl::StrCat("budget of ", budget, " trials reached", bad);
  }
  if (exhausted_) {
    return absl::StrCat("all points of the space have been tried (",
                        ended_.budget_used, " trials)", bad);
  }
  if (!answer_.empty()) {
    return absl::StrCat("answered after ", ended_.budget_used,
                        " trials: ", answer_, bad);
  }
  return TimeIsUp(now) ? absl::StrCat("budget of time used up", bad) : "";
}

std::int64_t StudyBook::CountEnded() const {
  std::int64_t ended = 0;
  for (std::size_t state = 0; state < counts_.size(); ++state) {
    if (IsTerminal(static_cast<TrialState>(state))) ended += counts_[state];
  }
  return ended;
}

std::int64_t StudyBook::Count(TrialState state) const {
  return counts_[static_cast<std::size_t>(state)];
}

v1::TrialCounts StudyBook::Counts() const {
  v1::TrialCounts counts;
  counts.set_queued(Count(TrialState::kQueued));
  counts.set_running(Count(TrialState::kRunning));
  counts.set_succeeded(Count(TrialState::kSucceeded));
  counts.set_pruned(Count(TrialState::kPruned));
  counts.set_infeasible(Count(TrialState::kInfeasible));
  counts.set_failed(Count(TrialState::kFailed));
  counts.set_cancelled(Count(TrialState::kCancelled));
  counts.set_budget_used(ended_.budget_used);
  return counts;
}

v1::StudyUsage StudyBook::Usage() const { return UsageOf(ended_); }

StudyHandle HandleOf(const StudyBook& book) {
  return {.key = book.row().key,
          .id = book.row().id,
          .revision = book.revision(),
          .state = book.row().state,
          .running = IsOpen(book.row().state),
          .budget_left =
              book.checked().settings.budget().trials() - book.BudgetTaken(),
          .ended = book.CountEnded(),
          .ends_stamp = book.ends_stamp(),
          .checked = book.shared_checked()};
}

absl::Status RequireOpen(const StudyBook& book) {
  if (IsOpen(book.row().state)) return absl::OkStatus();
  return MakeError(
      ErrorId::kStudyNotActive,
      absl::StrCat("the study has ended: ", book.row().state_reason),
      "raise the budget of a completed study, or create another", "name");
}

}  // namespace frostline::server
