// SPDX-License-Identifier: Apache-2.0
//
// File: batch_maker.h
//
// Turns rows of a token store into the tensors that a model reads, and says
// which rows come next.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_BATCH_MAKER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_BATCH_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/prefix/boundary_maker.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {

// The order of batches. One task has BatchPlanner's order. With several tasks
// an epoch has as many batches as the rows of all tasks make, and each task
// goes through its own rows pass by pass, however often its turn comes. The
// order is a function of (lengths, options, epoch, pass of the task).

// Rows of one task that belong to one batch.
struct TaskRows {
  std::size_t task = 0;
  RowBatch rows;            // indices into the task's `lengths`
  std::uint64_t epoch = 0;  // pass through the task's rows
};

// The place in TaskBatches from which a checkpoint goes on.
struct MixPosition {
  BatchPosition all;
  std::vector<BatchPosition> tasks;  // empty unless tasks take turns

  friend bool operator==(const MixPosition&, const MixPosition&) = default;
};

// How rows of several tasks become batches.
struct MixOptions {
  TaskMixing mixing = TaskMixing::kRandom;
  BatchOptions batches;
  std::vector<double> shares;  // by task, over 0
};

// The batches of one or several tasks, one after the other.
class TaskBatches {
 public:
  // `lengths` holds the tokens of each row, by task. There is at least one
  // task, and each has rows.
  TaskBatches(const std::vector<std::vector<std::uint32_t>>& lengths,
              MixOptions options);

  void Seek(const MixPosition& position);
  // Returns the next batch: rows of one task, or of several whose sets are
  // joined.
  std::vector<TaskRows> Next();
  // Returns the batches of this epoch that Next will give; for one task alone.
  std::span<const RowBatch> Rest() const { return cursors_.front().Rest(); }

  MixPosition position() const;
  bool AtEpochEnd() const;
  std::uint64_t BatchesOf(std::uint64_t epoch) const;

 private:
  bool takes_turns() const { return cursors_.size() > 1; }
  // Returns the task of each batch of an epoch.
  std::vector<std::size_t> TurnsOf(std::uint64_t epoch) const;
  std::vector<TaskRows> SplitByTask(const RowBatch& rows) const;

  MixOptions options_;
  // Where the rows of each joined task begin, and where the last ones end.
  std::vector<std::uint32_t> begins_;
  // They stay where they are, because cursors refer to them.
  std::vector<std::unique_ptr<const BatchPlanner>> planners_;
  std::vector<BatchCursor> cursors_;
  BatchPosition all_;  // used if tasks take turns
  std::uint64_t turns_epoch_ = 0;
  std::vector<std::size_t> turns_;
};

// Returns the token budget of a batch in an evaluation. It does not follow the
// batches of training: without a graph a batch needs little memory, and a small
// one does not keep a device busy.
constexpr std::size_t EvaluationTokens(bool is_cpu) {
  return is_cpu ? 2'048 : 16'384;
}

// Makes a batch of tensors, in main memory, from examples of a token store. One
// thread uses it.
class BatchMaker {
 public:
  // `is_cpu` says whether a CPU computes the model. `task` is the head of the
  // model that the batches are for.
  BatchMaker(std::shared_ptr<const TokenStore> tokens,
             const ModelConfig& config, const HeadSpec& head, bool is_cpu,
             std::size_t task = 0);

  // Returns the store's rows in the order of the last batch's texts.
  std::span<const std::uint32_t> rows() const { return rows_; }

  const TokenStore& tokens() const { return *tokens_; }
  // Returns the store's rows with the texts of these examples.
  std::vector<std::uint32_t> RowsOf(
      std::span<const std::uint32_t> examples) const;

  // Returns the number of examples: half of the store's rows if pairs are read
  // apart.
  std::size_t size() const { return examples_; }
  // Returns the tokens of each example; of a pair that is read apart, those of
  // its longer text.
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  // Returns the examples that have a label, so that a step can learn from them.
  const std::vector<std::uint32_t>& labelled() const { return labelled_; }
  // Returns the examples for `rows`, which a planner counts among the labelled
  // ones alone.
  RowBatch Labelled(const RowBatch& rows) const;

  // Makes the batch of these examples. Throws what LibTorch throws.
  Batch Make(std::span<const std::uint32_t> examples);
  // Adds the noise of an epoch to `batch`, which Make made last.
  void AddNoise(const RowNoise& noise, Batch& batch) const;

 private:
  at::Tensor Rows(const std::vector<std::int64_t>& values) const;

  std::shared_ptr<const TokenStore> tokens_;
  HeadSpec head_;
  std::size_t task_;
  bool has_types_;
  PadOptions pad_;
  std::size_t examples_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> labelled_;
  std::vector<std::uint32_t> rows_;
  PaddedBatch padded_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_BATCH_MAKER_H_
