// SPDX-License-Identifier: Apache-2.0
//
// File: batches.h
//
// Which rows are read together, and in which order. An epoch's batches are a
// function of (lengths, options, epoch) alone, so a trainer that goes on from
// a checkpoint needs nothing but the epoch and the number of batches done.
//
//   BatchPlanner planner(lengths, {.batch_size = 32, .seed = 1});
//   for (const RowBatch& batch : planner.Epoch(epoch)) Step(batch);
#ifndef FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::trainer {

using RowBatch = std::vector<std::uint32_t>;  // rows, 0 to lengths.size() - 1

struct BatchOptions {
  // Rows of a batch; the last one of an epoch may have fewer.
  std::size_t batch_size = 32;
  // Instead, when not 0: rows times the longest of them is at most this. A row
  // that is longer stands alone; none is lost.
  std::size_t batch_tokens = 0;
  // Rows of about the same length together: less padding. Off: by chance alone.
  bool bucket = true;
  std::uint64_t seed = 0;
};

// Where training stands; goes into a checkpoint.
struct BatchPosition {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  // the next one of that epoch

  friend bool operator==(const BatchPosition&, const BatchPosition&) = default;
};

class BatchPlanner {
 public:
  // `lengths`: tokens of each row.
  BatchPlanner(std::vector<std::uint32_t> lengths, BatchOptions options);

  // Every row once. With buckets the batch of the longest row comes first: when
  // memory is too small, that shows at once.
  std::vector<RowBatch> Epoch(std::uint64_t epoch) const;
  // For evaluation: no chance at all, the longest first.
  std::vector<RowBatch> Ordered() const;
  // Steps of a schedule over so many epochs. Epochs may differ by a few
  // batches under a token budget.
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

// The next batch, and moves the position behind it. Keeps the epoch's plan, so
// that a step costs next to nothing.
class BatchCursor {
 public:
  // `planner` must outlive the cursor and have rows.
  BatchCursor(const BatchPlanner& planner, BatchPosition position);

  const RowBatch& Next();
  const BatchPosition& position() const { return position_; }
  // True when the next batch is the first of another epoch.
  bool AtEpochEnd() const { return position_.batch >= plan_.size(); }

 private:
  const BatchPlanner& planner_;
  BatchPosition position_;
  std::uint64_t planned_epoch_;
  std::vector<RowBatch> plan_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_BATCHES_H_
