// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/batch_maker.h"

#include <algorithm>
#include <utility>

#include "worker/trainer/model/loss.h"

namespace frostline::trainer {
namespace {

// Of tensor cores; a CPU gains nothing from padding.
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
    if (head.task != Task::kTokens ||
        std::ranges::any_of(words, [](auto l) { return l != kIgnoredLabel; })) {
      labelled_.push_back(i);
    }
  }
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
  if (head_.task == Task::kTokens) {
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
