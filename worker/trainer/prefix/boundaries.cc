// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundaries.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace frostline::trainer {
namespace {

// Without a store: what a trial may take of main memory.
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 20U;
constexpr double kToldSeconds = 1.0;
// Another process has not stored a row for so long: it hangs, or is stopped.
constexpr double kPatienceSeconds = 120.0;
constexpr std::chrono::milliseconds kPause(20);

}  // namespace

Boundaries::Boundaries(const Model& model, std::int64_t blocks,
                       Precision precision, const PrefixStore* store,
                       const GroupName& name, PrefixWork work)
    : maker_(model, blocks, precision), store_(store), work_(std::move(work)) {
  if (store_ == nullptr) return;
  Expected<PrefixGroup> group = store_->Group(name.key, name.about);
  if (group.ok()) {
    group_.emplace(std::move(group).value());
  } else {
    GoOnWithout(group.fault());
  }
}

Boundaries::~Boundaries() {
  if (group_) group_->Note(worth_);
}

void Boundaries::GoOnWithout(const Fault& fault) {
  work_.log("goes on without the prefix store: " + fault.cause + "; " +
            fault.fix);
  store_ = nullptr;
}

Boundaries::RowsByLength Boundaries::Lacking(const TokenStore& tokens) const {
  RowsByLength lacking;
  std::set<RowKey> seen;
  for (std::uint32_t row = 0; row < tokens.size(); ++row) {
    const RowKey key = tokens.key(row);
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
  std::size_t all = 0;
  for (const auto& [length, rows] : lacking) {
    bytes += rows.size() * maker_.NumbersOf(length) * sizeof(float);
    all += rows.size();
  }
  if (auto room = store_->MakeRoom(bytes); !room.ok()) {
    GoOnWithout(room.fault());
    return Done{};
  }
  const double begun = work_.seconds();
  double told = begun;
  std::size_t done = 0;
  std::optional<Fault> full;
  const Expected<Done> computed = Compute(
      tokens, lacking,
      [&](std::uint32_t row, std::span<const float> numbers) -> Expected<Done> {
        if (auto go_on = work_.stop.Check(); !go_on.ok()) return go_on;
        if (work_.seconds() - told >= kToldSeconds) {
          told = work_.seconds();
          work_.told(done, all);
        }
        ++done;
        Expected<Done> added = filler.Add(tokens.key(row), numbers);
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
  worth_.rows += static_cast<double>(done);
  counts_.bytes += static_cast<std::int64_t>(full ? 0 : bytes);
  if (full) GoOnWithout(*full);
  return Done{};
}

Expected<Done> Boundaries::Compute(const TokenStore& tokens,
                                   const RowsByLength& rows,
                                   const BoundaryMaker::Take& take) {
  for (const auto& [length, some] : rows) {
    const Expected<Done> made =
        maker_.Make(tokens, some,
                    [&](std::uint32_t row,
                        std::span<const float> numbers) -> Expected<Done> {
                      ++counts_.misses;
                      ++computed_[tokens.ids(row).size()];
                      return take(row, numbers);
                    });
    if (!made.ok()) return made;
  }
  return Done{};
}

bool Boundaries::Find(const RowKey& key, std::span<float> into) {
  if (group_ && group_->Read(key, into)) return true;
  const auto held = held_.find(key);
  if (held == held_.end() || held->second.size() != into.size()) return false;
  std::ranges::copy(held->second, into.begin());
  return true;
}

void Boundaries::Hold(const RowKey& key, std::span<const float> row) {
  if (held_bytes_ + row.size_bytes() > kMostHeldBytes) return;
  if (!held_.try_emplace(key, row.begin(), row.end()).second) return;
  held_bytes_ += row.size_bytes();
}

Expected<at::Tensor> Boundaries::Of(const TokenStore& tokens,
                                    std::span<const std::uint32_t> rows,
                                    std::int64_t width) {
  return CatchTorch([&]() -> Expected<at::Tensor> {
    const std::int64_t kept =
        maker_.TokensKept(static_cast<std::size_t>(width));
    const auto one = maker_.NumbersOf(static_cast<std::size_t>(width));
    const at::Tensor boundary =
        at::zeros({static_cast<std::int64_t>(rows.size()), kept,
                   static_cast<std::int64_t>(one) / kept},
                  at::kFloat);  // [B, N, H]
    auto* const begin = boundary.mutable_data_ptr<float>();
    RowsByLength lacking;
    std::map<std::uint32_t, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t length = tokens.ids(rows[i]).size();
      const std::span<float> into(begin + i * one, maker_.NumbersOf(length));
      if (Find(tokens.key(rows[i]), into)) {
        ++counts_.hits;
        worth_.taken += 1.0;
        continue;
      }
      std::ranges::fill(into, 0.0F);
      std::vector<std::size_t>& here = places[rows[i]];
      if (here.empty()) lacking[length].push_back(rows[i]);
      here.push_back(i);
    }
    const Expected<Done> computed =
        Compute(tokens, lacking,
                [&](std::uint32_t row,
                    std::span<const float> numbers) -> Expected<Done> {
                  for (const std::size_t i : places[row]) {
                    std::ranges::copy(numbers, begin + i * one);
                  }
                  Hold(tokens.key(row), numbers);
                  return Done{};
                });
    if (!computed.ok()) return computed.fault();
    return boundary;
  });
}

std::map<std::size_t, std::int64_t> Boundaries::TakeComputed() {
  return std::exchange(computed_, {});
}

}  // namespace frostline::trainer
