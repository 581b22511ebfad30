// SPDX-License-Identifier: Apache-2.0
//
// File: batches.h
//
// Plans which rows are read together, and in which order, from (lengths,
// options, epoch) alone, so a checkpoint needs only a BatchPosition.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace frostline::trainer {

// Tells one text from another as a model reads it: half of the SHA-256 of its
// token ids and types. The same text has the same key in every split, subset
// and data set, so that what was computed for it once serves all of them.

struct RowKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const { return key.low; }
};

// `types` are as many as `ids`.
RowKey RowKeyOf(std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> types);

// Each row draws a number that depends on (seed, stream, row) alone, and rows
// stand in the order of their numbers: the same on every machine, without
// state, and the rest keep it when some rows go.

// These say what draws are for. Epochs add their number to the last two.
inline constexpr std::uint64_t kHoldOutStream = 1;
inline constexpr std::uint64_t kSubsetStream = 2;
inline constexpr std::uint64_t kEpochStream = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kBatchStream = std::uint64_t{1} << 33;

// This finalises SplitMix64 (Steele, Lea and Flood, 2014).
inline std::uint64_t MixBits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

inline std::uint64_t DrawOf(std::uint64_t seed, std::uint64_t stream,
                            std::uint64_t row) {
  return MixBits(MixBits(MixBits(seed) ^ stream) ^ row);
}

// The order of `rows` does not matter.
inline std::vector<std::uint32_t> ShuffledRows(
    std::span<const std::uint32_t> rows, std::uint64_t seed,
    std::uint64_t stream) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> drawn;
  drawn.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    drawn.emplace_back(DrawOf(seed, stream, row), row);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::uint32_t> order;
  order.reserve(rows.size());
  for (const auto& [draw, row] : drawn) order.push_back(row);
  return order;
}

using RowBatch = std::vector<std::uint32_t>;  // 0 to lengths.size() - 1

struct BatchOptions {
  std::size_t batch_size = 32;
  // When not 0, rows times the longest of them is at most this instead. A
  // longer row stands alone.
  std::size_t batch_tokens = 0;
  // Rows of about one length go together: less padding.
  bool bucket = true;
  std::uint64_t seed = 0;
};

struct BatchPosition {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  // the next one of that epoch

  friend bool operator==(const BatchPosition&, const BatchPosition&) = default;
};

class BatchPlanner {
 public:
  // `lengths` are the tokens of each row.
  BatchPlanner(std::vector<std::uint32_t> lengths, BatchOptions options);

  // Every row comes once. With buckets the batch of the longest row comes
  // first, to show at once when memory is too small.
  std::vector<RowBatch> Epoch(std::uint64_t epoch) const;
  // Puts the longest first, without chance, for evaluation.
  std::vector<RowBatch> Ordered() const;
  // Counts over so many epochs, which may differ under a token budget.
  std::uint64_t BatchesOf(std::uint64_t epochs) const;

 private:
  void SortByLength(std::vector<std::uint32_t>& rows, std::size_t begin,
                    std::size_t end) const;
  std::vector<RowBatch> Cut(const std::vector<std::uint32_t>& rows,
                            std::size_t begin, std::size_t end) const;
  std::size_t PoolRows() const;

  std::vector<std::uint32_t> lengths_;
  BatchOptions options_;
};

class BatchCursor {
 public:
  // `planner` outlives the cursor and has rows.
  BatchCursor(const BatchPlanner& planner, BatchPosition position);

  const RowBatch& Next();
  // Returns the batches of this epoch that Next will give.
  std::span<const RowBatch> Rest() const {
    return std::span(plan_).subspan(position_.batch);
  }
  const BatchPosition& position() const { return position_; }
  bool AtEpochEnd() const { return position_.batch >= plan_.size(); }

 private:
  const BatchPlanner& planner_;
  BatchPosition position_;
  std::uint64_t planned_epoch_;
  std::vector<RowBatch> plan_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_
