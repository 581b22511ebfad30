// SPDX-License-Identifier: Apache-2.0
//
// How rows that lack are computed, and stored for others.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "worker/trainer/prefix/boundaries.h"

namespace frostline::trainer {
namespace {

// A sign of life, not a line for every few texts.
constexpr double kToldSeconds = 10.0;
// Another process has not stored a row for so long: it hangs, or is stopped.
constexpr double kPatienceSeconds = 120.0;
constexpr std::chrono::milliseconds kPause(20);

}  // namespace

Boundaries::RowsByLength Boundaries::Lacking(const TokenStore& tokens) const {
  RowsByLength lacking;
  std::set<RowKey> seen;
  for (std::uint32_t row = 0; row < tokens.size(); ++row) {
    const RowKey key = KeyOf(tokens, row);
    if (group_->Has(key) || !seen.insert(key).second) continue;
    lacking[tokens.ids(row).size()].push_back(row);
  }
  return lacking;
}

Expected<Done> Boundaries::Prepare(const TokenStore& tokens) {
  if (store_ == nullptr || !group_ || prepared_.contains(&tokens)) {
    return Done{};
  }
  while (!Lacking(tokens).empty()) {
    if (std::optional<GroupFiller> filler = GroupFiller::Try(*group_)) {
      const Expected<Done> filled = Fill(tokens, *filler);
      if (!filled.ok()) return filled;
      break;
    }
    Expected<bool> came = AwaitOther(tokens);
    if (!came.ok()) return came.fault();
    if (!came.value()) {
      GoOnWithout({FaultKind::kUnreadable,
                   "another trainer has been filling it without a result",
                   "look for one that hangs"});
      break;
    }
  }
  prepared_.insert(&tokens);
  return Done{};
}

Expected<bool> Boundaries::AwaitOther(const TokenStore& tokens) {
  const std::size_t before = group_->size();
  const double begun = work_.seconds();
  double told = begun;
  while (work_.seconds() - begun < kPatienceSeconds) {
    if (auto go_on = work_.stop.Check(); !go_on.ok()) return go_on.fault();
    std::this_thread::sleep_for(kPause);
    group_->Refresh();
    if (group_->size() > before) return true;
    // It may have ended, with or without a result.
    if (LockedFile::Try(group_->folder() + "/filling",
                        LockedFile::Kind::kShared)) {
      return true;
    }
    if (work_.seconds() - told < kToldSeconds) continue;
    told = work_.seconds();
    work_.told(group_->size(), tokens.size());
  }
  return false;
}

Expected<Done> Boundaries::Fill(const TokenStore& tokens, GroupFiller& filler) {
  const RowsByLength lacking = Lacking(tokens);
  std::uint64_t bytes = 0;
  for (const auto& [length, rows] : lacking) {
    bytes += rows.size() * maker_.NumbersOf(length) * sizeof(float);
  }
  if (auto room = store_->MakeRoom(bytes); !room.ok()) {
    GoOnWithout(room.fault());
    return Done{};
  }
  const double begun = work_.seconds();
  const std::int64_t before = counts_.misses;
  std::optional<Fault> full;
  const Expected<Done> computed = ComputeMany(
      tokens, lacking, [&](std::uint32_t row, std::span<const float> numbers) {
        Expected<Done> added = filler.Add(KeyOf(tokens, row), numbers);
        if (!added.ok()) full = added.fault();
        return added;
      });
  if (!computed.ok() && !full) return computed;
  if (!full) {
    if (auto finished = filler.Finish(); !finished.ok()) {
      full = finished.fault();
    }
  }
  worth_.seconds += work_.seconds() - begun;
  worth_.rows += static_cast<double>(counts_.misses - before);
  counts_.bytes += static_cast<std::int64_t>(full ? 0 : bytes);
  if (full) GoOnWithout(*full);
  return Done{};
}

Expected<Done> Boundaries::ComputeMany(const TokenStore& tokens,
                                       const RowsByLength& rows,
                                       const Take& take) {
  std::size_t all = 0;
  for (const auto& [length, some] : rows) all += some.size();
  std::size_t done = 0;
  double told = work_.seconds();
  return Compute(
      tokens, rows,
      [&](std::uint32_t row, std::span<const float> numbers) -> Expected<Done> {
        if (auto go_on = work_.stop.Check(); !go_on.ok()) return go_on;
        if (work_.seconds() - told >= kToldSeconds) {
          told = work_.seconds();
          work_.told(done, all);
        }
        ++done;
        return take(row, numbers);
      });
}

Expected<Done> Boundaries::Compute(const TokenStore& tokens,
                                   const RowsByLength& rows, const Take& take) {
  const BoundaryMaker::Take counted = [&](std::uint32_t row,
                                          std::span<const float> numbers,
                                          const BoundaryMaker::Origin& origin) {
    ++counts_.misses;
    const std::size_t length = tokens.ids(row).size();
    ComputedTexts& computed = computed_[{origin.from, length}];
    computed.from = origin.from;
    computed.tokens = length;
    ++computed.texts;
    if (origin.opens_batch) ++computed.batches;
    return take(row, numbers);
  };
  for (const auto& [length, some] : rows) {
    const Expected<Rows> rest = GoOnFromLower(tokens, some, counted);
    if (!rest.ok()) return rest.fault();
    const Expected<Done> made =
        maker_.Make(tokens, rest.value(), nullptr, counted);
    if (!made.ok()) return made;
  }
  return Done{};
}

Expected<Boundaries::Rows> Boundaries::GoOnFromLower(
    const TokenStore& tokens, Rows rows, const BoundaryMaker::Take& take) {
  for (auto& [blocks, group] : lower_) {
    PrefixGroup& stored = group;
    const auto lacks = std::ranges::stable_partition(
        rows,
        [&](std::uint32_t row) { return stored.Has(KeyOf(tokens, row)); });
    const Rows here(rows.begin(), lacks.begin());
    const BoundaryMaker::Lower lower = {
        blocks, [&](std::uint32_t row, std::span<float> into) {
          return stored.Read(KeyOf(tokens, row), into);
        }};
    const Expected<Done> made = maker_.Make(tokens, here, &lower, take);
    if (!made.ok()) return made.fault();
    if (!here.empty()) {
      stored.Note({.taken = static_cast<double>(here.size())});
    }
    rows.erase(rows.begin(), lacks.begin());
  }
  return rows;
}

}  // namespace frostline::trainer
