// SPDX-License-Identifier: Apache-2.0
//
// File: batches.h
//
// Plans which rows are read together, and in which order, from (lengths,
// options, epoch) alone, so a checkpoint needs only a BatchPosition.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace frostline::trainer {

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
  // Of this epoch, those that Next will give.
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
