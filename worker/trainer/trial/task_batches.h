// SPDX-License-Identifier: Apache-2.0
//
// File: task_batches.h
//
// Which rows of which task come next. Of one task it is BatchPlanner's order.
// Of several an epoch has as many batches as all tasks' rows make; each task
// goes through its own rows pass by pass, however often its turn comes. The
// order is a function of (lengths, options, epoch, pass of the task).
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TASK_BATCHES_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TASK_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {

struct TaskRows {
  std::size_t task = 0;
  RowBatch rows;            // as `lengths` of the task counts them
  std::uint64_t epoch = 0;  // pass through the task's rows
};

// Where a checkpoint goes on.
struct MixPosition {
  BatchPosition all;
  std::vector<BatchPosition> tasks;  // empty of one task, and of joined ones

  friend bool operator==(const MixPosition&, const MixPosition&) = default;
};

struct MixOptions {
  TaskMixing mixing = TaskMixing::kRandom;
  BatchOptions batches;
  std::vector<double> shares;  // by task, over 0
};

class TaskBatches {
 public:
  // `lengths` are the tokens of each row, by task; there is a task, and none
  // is without rows.
  TaskBatches(const std::vector<std::vector<std::uint32_t>>& lengths,
              MixOptions options);

  void Seek(const MixPosition& position);
  // A batch: rows of one task, or of joined sets of several.
  std::vector<TaskRows> Next();
  // Of one task, the batches of this epoch that Next will give.
  std::span<const RowBatch> Rest() const { return cursors_.front().Rest(); }

  MixPosition position() const;
  bool AtEpochEnd() const;
  std::uint64_t BatchesOf(std::uint64_t epoch) const;

 private:
  bool takes_turns() const { return cursors_.size() > 1; }
  // Of each batch of an epoch, whose it is.
  std::vector<std::size_t> TurnsOf(std::uint64_t epoch) const;
  std::vector<TaskRows> SplitByTask(const RowBatch& rows) const;

  MixOptions options_;
  std::vector<std::uint32_t> begins_;  // of joined tasks' rows, and the end
  // Cursors refer to planners.
  std::vector<std::unique_ptr<const BatchPlanner>> planners_;
  std::vector<BatchCursor> cursors_;
  BatchPosition all_;  // where tasks take turns
  std::uint64_t turns_epoch_ = 0;
  std::vector<std::size_t> turns_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TASK_BATCHES_H_
