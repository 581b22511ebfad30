// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundaries.h"

#include <algorithm>
#include <utility>

namespace frostline::trainer {
namespace {

// Without a store: what a trial may take of main memory.
constexpr std::size_t kMostHeldBytes = std::size_t{512} << 20U;
// Of that, for batches to come: enough to have many texts of each length.
constexpr std::size_t kMostForeseenBytes = std::size_t{256} << 20U;

}  // namespace

Boundaries::Boundaries(const Model& model, Precision precision,
                       const PrefixStore* store, const BoundarySpec& wanted,
                       PrefixWork work)
    : maker_(model, wanted.blocks, precision, wanted.noise, wanted.known),
      store_(store),
      work_(std::move(work)),
      noisy_(wanted.noise.has_value()),
      key_(wanted.group.key),
      resident_(wanted.resident),
      device_(model.device()) {
  if (store_ == nullptr) return;
  Expected<PrefixGroup> group =
      store_->Group(wanted.group.key, wanted.group.about);
  if (!group.ok()) {
    GoOnWithout(group.fault());
    return;
  }
  group_.emplace(std::move(group).value());
  for (const LowerGroup& lower : wanted.lower) {
    if (auto known = store_->Existing(lower.group.key, lower.group.about)) {
      lower_.emplace_back(lower.blocks, *std::move(known));
    }
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

RowKey Boundaries::KeyOf(const TokenStore& tokens, std::uint32_t row) const {
  return noisy_ ? tokens.drawer(row) : tokens.key(row);
}

bool Boundaries::IsThere(const RowKey& key) const {
  return (group_ && group_->Has(key)) ||
         (resident_ != nullptr && resident_->Has(key_, key));
}

bool Boundaries::Has(const TokenStore& tokens,
                     std::span<const std::uint32_t> rows) const {
  return std::ranges::all_of(rows, [&](std::uint32_t row) {
    const RowKey key = KeyOf(tokens, row);
    return IsThere(key) || held_.contains(key);
  });
}

Expected<Done> Boundaries::Foresee(const TokenStore& tokens,
                                   std::span<const std::uint32_t> next) {
  held_.clear();
  held_bytes_ = 0;
  RowsByLength lacking;
  std::set<RowKey> seen;
  std::size_t bytes = 0;
  for (const std::uint32_t row : next) {
    const std::size_t length = tokens.ids(row).size();
    const RowKey key = KeyOf(tokens, row);
    if (IsThere(key) || !seen.insert(key).second) continue;
    bytes += maker_.NumbersOf(length) * sizeof(float);
    if (bytes > kMostForeseenBytes) break;
    lacking[length].push_back(row);
  }
  return ComputeMany(
      tokens, lacking,
      [&](std::uint32_t row, std::span<const float> numbers) -> Expected<Done> {
        Hold(KeyOf(tokens, row), numbers);
        return Done{};
      });
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

Expected<at::Tensor> Boundaries::FromHost(const TokenStore& tokens,
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
      if (Find(KeyOf(tokens, rows[i]), into)) {
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
                  Hold(KeyOf(tokens, row), numbers);
                  return Done{};
                });
    if (!computed.ok()) return computed.fault();
    return boundary;
  });
}

std::vector<ComputedTexts> Boundaries::TakeComputed() {
  std::vector<ComputedTexts> taken;
  for (const auto& [which, texts] : std::exchange(computed_, {})) {
    taken.push_back(texts);
  }
  return taken;
}

}  // namespace frostline::trainer
