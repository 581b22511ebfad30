// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/batch_maker.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

constexpr std::uint64_t kTaskStream = 0x7A5C000000000000U;

// Returns a number in [0, 1), made of the upper 53 bits.
double Share(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace

TaskBatches::TaskBatches(const std::vector<std::vector<std::uint32_t>>& lengths,
                         MixOptions options)
    : options_(std::move(options)) {
  const double all =
      std::accumulate(options_.shares.begin(), options_.shares.end(), 0.0);
  for (double& share : options_.shares) share /= all;
  const bool joined =
      options_.mixing == TaskMixing::kJoined && lengths.size() > 1;
  std::vector<std::uint32_t> together;
  for (std::size_t task = 0; task < lengths.size(); ++task) {
    begins_.push_back(static_cast<std::uint32_t>(together.size()));
    together.insert(together.end(), lengths[task].begin(), lengths[task].end());
    if (joined) continue;
    BatchOptions own = options_.batches;
    if (task > 0) own.seed = DrawOf(own.seed, kTaskStream, task);
    planners_.push_back(
        std::make_unique<const BatchPlanner>(lengths[task], own));
  }
  begins_.push_back(static_cast<std::uint32_t>(together.size()));
  if (joined) {
    planners_.push_back(std::make_unique<const BatchPlanner>(
        std::move(together), options_.batches));
  }
  Seek({});
}

void TaskBatches::Seek(const MixPosition& position) {
  cursors_.clear();
  all_ = position.all;
  for (std::size_t i = 0; i < planners_.size(); ++i) {
    const BatchPosition own = i < position.tasks.size() ? position.tasks[i]
                              : planners_.size() == 1   ? position.all
                                                        : BatchPosition();
    cursors_.emplace_back(*planners_[i], own);
  }
  if (!takes_turns()) return;
  turns_epoch_ = all_.epoch;
  turns_ = TurnsOf(all_.epoch);
}

std::uint64_t TaskBatches::BatchesOf(std::uint64_t epoch) const {
  std::uint64_t batches = 0;
  // If tasks take turns, all epochs have the same number.
  for (const auto& planner : planners_) {
    batches += planner->Epoch(takes_turns() ? 0 : epoch).size();
  }
  return batches;
}

std::vector<std::size_t> TaskBatches::TurnsOf(std::uint64_t epoch) const {
  std::vector<std::size_t> turns(BatchesOf(epoch));
  std::vector<double> had(options_.shares.size(), 0.0);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (options_.mixing == TaskMixing::kRandom) {
      double drawn =
          Share(DrawOf(options_.batches.seed, kTaskStream + epoch, i));
      std::size_t task = 0;
      while (task + 1 < had.size() && drawn >= options_.shares[task]) {
        drawn -= options_.shares[task++];
      }
      turns[i] = task;
      continue;
    }
    const auto lacks = [&](std::size_t task) {
      return options_.shares[task] * static_cast<double>(i + 1) - had[task];
    };
    for (std::size_t task = 1; task < had.size(); ++task) {
      if (lacks(task) > lacks(turns[i])) turns[i] = task;
    }
    had[turns[i]] += 1.0;
  }
  return turns;
}

std::vector<TaskRows> TaskBatches::SplitByTask(const RowBatch& rows) const {
  std::vector<TaskRows> parts;
  for (std::size_t task = 0; task + 1 < begins_.size(); ++task) {
    TaskRows part = {task, {}, cursors_.front().position().epoch};
    for (const std::uint32_t row : rows) {
      if (row < begins_[task] || row >= begins_[task + 1]) continue;
      part.rows.push_back(row - begins_[task]);
    }
    if (!part.rows.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<TaskRows> TaskBatches::Next() {
  if (!takes_turns()) {
    const RowBatch& rows = cursors_.front().Next();
    return SplitByTask(rows);
  }
  if (all_.batch >= turns_.size()) all_ = {all_.epoch + 1, 0};
  if (all_.epoch != turns_epoch_) {
    turns_ = TurnsOf(all_.epoch);
    turns_epoch_ = all_.epoch;
  }
  const std::size_t task = turns_[all_.batch++];
  RowBatch rows = cursors_[task].Next();
  return {{task, std::move(rows), cursors_[task].position().epoch}};
}

MixPosition TaskBatches::position() const {
  if (!takes_turns()) return {cursors_.front().position(), {}};
  MixPosition position = {all_, {}};
  for (const BatchCursor& cursor : cursors_) {
    position.tasks.push_back(cursor.position());
  }
  return position;
}

bool TaskBatches::AtEpochEnd() const {
  return takes_turns() ? all_.batch >= turns_.size()
                       : cursors_.front().AtEpochEnd();
}

namespace {

// Widths are padded to this multiple on a GPU, for its tensor cores. A CPU
// gains nothing from padding.
constexpr std::size_t kGpuMultiple = 8;

}  // namespace

BatchMaker::BatchMaker(std::shared_ptr<const TokenStore> tokens,
                       const ModelConfig& config, const HeadSpec& head,
                       bool is_cpu, std::size_t task)
    : tokens_(std::move(tokens)),
      head_(head),
      task_(task),
      has_types_(config.types > 0) {
  pad_.pad_id = config.pad_id;
  pad_.multiple = is_cpu ? 1 : kGpuMultiple;
  pad_.max_width = static_cast<std::size_t>(config.longest_text());
  lengths_ = tokens_->Lengths();
  examples_ = lengths_.size();
  if (head.apart()) {
    examples_ /= 2;
    for (std::size_t i = 0; i < examples_; ++i) {
      lengths_[i] = std::max(lengths_[i], lengths_[examples_ + i]);
    }
    lengths_.resize(examples_);
  }
  for (std::uint32_t i = 0; i < examples_; ++i) {
    const auto words = tokens_->token_labels(i);
    if (!LabelsTokens(head.task) ||
        std::ranges::any_of(words, [](auto l) { return l != kIgnoredLabel; })) {
      labelled_.push_back(i);
    }
  }
}

RowBatch BatchMaker::Labelled(const RowBatch& rows) const {
  RowBatch labelled;
  for (const std::uint32_t row : rows) labelled.push_back(labelled_[row]);
  return labelled;
}

at::Tensor BatchMaker::Rows(const std::vector<std::int64_t>& values) const {
  const auto rows = static_cast<std::int64_t>(padded_.rows);
  return at::from_blob(const_cast<std::int64_t*>(values.data()),
                       {rows, static_cast<std::int64_t>(values.size()) / rows},
                       at::kLong)
      .clone();  // what from_blob gives owns nothing
}

std::vector<std::uint32_t> BatchMaker::RowsOf(
    std::span<const std::uint32_t> examples) const {
  std::vector<std::uint32_t> rows(examples.begin(), examples.end());
  if (!head_.apart()) return rows;
  for (const std::uint32_t example : examples) {
    rows.push_back(example + static_cast<std::uint32_t>(examples_));
  }
  return rows;
}

Batch BatchMaker::Make(std::span<const std::uint32_t> examples) {
  rows_ = RowsOf(examples);
  tokens_->Pad(rows_, pad_, padded_);
  Batch batch;
  batch.task = task_;
  batch.ids = Rows(padded_.ids);                      // [B, N]
  batch.mask = Rows(padded_.mask);                    // [B, N]
  if (has_types_) batch.types = Rows(padded_.types);  // [B, N]
  if (LabelsTokens(head_.task)) {
    batch.labels = Rows(padded_.labels);  // [B, N]
  } else if (head_.task == Task::kSequence) {
    const auto count = static_cast<std::int64_t>(examples.size());
    batch.labels =
        Rows(padded_.labels).flatten().narrow(0, 0, count);  // [B], or [B/2]
  } else {
    const auto count = static_cast<std::int64_t>(examples.size());
    batch.labels = at::from_blob(padded_.targets.data(), {count}, at::kFloat)
                       .clone();  // [B], of pairs [B/2]
  }
  return batch;
}

void BatchMaker::AddNoise(const RowNoise& noise, Batch& batch) const {
  batch.noise = NoiseOfRows(*tokens_, rows_, noise);  // [B]
  batch.lengths = batch.mask.sum(1);                  // [B]
}

}  // namespace frostline::trainer
