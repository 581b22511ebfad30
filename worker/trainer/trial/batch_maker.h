// SPDX-License-Identifier: Apache-2.0
//
// File: batch_maker.h
//
// Makes rows of a token store a model's tensors, in main memory. One thread
// uses it.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_BATCH_MAKER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_BATCH_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/prefix/row_noise.h"

namespace frostline::trainer {

// Tokens of a batch that is not trained on.
constexpr std::size_t EvaluationTokens(bool is_cpu) {
  return is_cpu ? 2'048 : 16'384;
}

class BatchMaker {
 public:
  // `is_cpu` says whether the model is computed there. Batches are of the
  // model's head `task`.
  BatchMaker(std::shared_ptr<const TokenStore> tokens,
             const ModelConfig& config, const HeadSpec& head, bool is_cpu,
             std::size_t task = 0);

  // Of the store, in the order of the last batch's texts.
  std::span<const std::uint32_t> rows() const { return rows_; }

  const TokenStore& tokens() const { return *tokens_; }
  // Of the store, the texts of these examples.
  std::vector<std::uint32_t> RowsOf(
      std::span<const std::uint32_t> examples) const;

  // It is half of the store's rows where pairs are read apart.
  std::size_t size() const { return examples_; }
  // A pair that is read apart counts its longer text.
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  // A step can learn from these: they have a label.
  const std::vector<std::uint32_t>& labelled() const { return labelled_; }

  // Throws what LibTorch throws.
  Batch Make(std::span<const std::uint32_t> examples);
  // Gives the last batch its noise in an epoch.
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
