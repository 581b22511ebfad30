// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/batches.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kDigits = 16;  // of 64 bits

std::uint64_t FromHex(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

}  // namespace

RowKey RowKeyOf(std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> types) {
  Sha256Sum sum;
  sum.AddField({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  sum.AddField(
      {reinterpret_cast<const char*>(types.data()), types.size_bytes()});
  const std::string digits = sum.Finish();
  const std::string_view all = digits;
  return {FromHex(all.substr(0, kDigits)),
          FromHex(all.substr(kDigits, kDigits))};
}

namespace {

// Lengths are sorted within so many batches: enough for batches without much
// padding, few enough for chance to decide who meets whom.
constexpr std::size_t kBatchesOfPool = 50;

std::vector<std::uint32_t> Numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  return numbers;
}

}  // namespace

BatchPlanner::BatchPlanner(std::vector<std::uint32_t> lengths,
                           BatchOptions options)
    : lengths_(std::move(lengths)), options_(options) {
  options_.batch_size = std::max<std::size_t>(options_.batch_size, 1);
}

void BatchPlanner::SortByLength(std::vector<std::uint32_t>& rows,
                                std::size_t begin, std::size_t end) const {
  std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                   rows.begin() + static_cast<std::ptrdiff_t>(end),
                   [this](std::uint32_t a, std::uint32_t b) {
                     return lengths_[a] > lengths_[b];
                   });
}

std::vector<RowBatch> BatchPlanner::Cut(const std::vector<std::uint32_t>& rows,
                                        std::size_t begin,
                                        std::size_t end) const {
  std::vector<RowBatch> batches;
  std::size_t longest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    longest = std::max<std::size_t>(longest, lengths_[rows[i]]);
    const std::size_t size = batches.empty() ? 0 : batches.back().size();
    const bool full = options_.batch_tokens > 0
                          ? (size + 1) * longest > options_.batch_tokens
                          : size == options_.batch_size;
    if (size == 0 || full) {
      batches.emplace_back();
      longest = lengths_[rows[i]];
    }
    batches.back().push_back(rows[i]);
  }
  return batches;
}

std::size_t BatchPlanner::PoolRows() const {
  if (!options_.bucket) return lengths_.size();
  if (options_.batch_tokens == 0) return options_.batch_size * kBatchesOfPool;
  const std::uint64_t tokens =
      std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0});
  const std::uint64_t mean = std::max<std::uint64_t>(
      tokens / std::max<std::size_t>(lengths_.size(), 1), 1);
  return std::max<std::size_t>(options_.batch_tokens / mean, 1) *
         kBatchesOfPool;
}

std::vector<RowBatch> BatchPlanner::Epoch(std::uint64_t epoch) const {
  std::vector<std::uint32_t> rows = ShuffledRows(
      Numbers(lengths_.size()), options_.seed, kEpochStream + epoch);
  if (!options_.bucket) return Cut(rows, 0, rows.size());
  const std::size_t pool = PoolRows();
  for (std::size_t begin = 0; begin < rows.size(); begin += pool) {
    SortByLength(rows, begin, std::min(rows.size(), begin + pool));
  }
  // Cut over the borders of pools, so that only one batch is not full.
  std::vector<RowBatch> batches = Cut(rows, 0, rows.size());
  std::vector<RowBatch> shuffled;
  for (const std::uint32_t i : ShuffledRows(
           Numbers(batches.size()), options_.seed, kBatchStream + epoch)) {
    shuffled.push_back(std::move(batches[i]));
  }
  const auto longest = [this](const RowBatch& batch) {
    std::uint32_t most = 0;
    for (const std::uint32_t row : batch) most = std::max(most, lengths_[row]);
    return most;
  };
  const auto first =
      std::max_element(shuffled.begin(), shuffled.end(),
                       [&](const RowBatch& a, const RowBatch& b) {
                         return longest(a) < longest(b);
                       });
  if (first != shuffled.end()) std::swap(*first, shuffled.front());
  return shuffled;
}

std::vector<RowBatch> BatchPlanner::Ordered() const {
  std::vector<std::uint32_t> rows = Numbers(lengths_.size());
  SortByLength(rows, 0, rows.size());
  return Cut(rows, 0, rows.size());
}

std::uint64_t BatchPlanner::BatchesOf(std::uint64_t epochs) const {
  if (options_.batch_tokens == 0) {
    const std::size_t size = options_.batch_size;
    return epochs * ((lengths_.size() + size - 1) / size);
  }
  std::uint64_t total = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    total += Epoch(epoch).size();
  }
  return total;
}

BatchCursor::BatchCursor(const BatchPlanner& planner, BatchPosition position)
    : planner_(planner),
      position_(position),
      planned_epoch_(position.epoch),
      plan_(planner.Epoch(position.epoch)) {}

const RowBatch& BatchCursor::Next() {
  if (position_.batch >= plan_.size()) position_ = {position_.epoch + 1, 0};
  if (position_.epoch != planned_epoch_) {
    plan_ = planner_.Epoch(position_.epoch);
    planned_epoch_ = position_.epoch;
  }
  return plan_[position_.batch++];
}

}  // namespace frostline::trainer
