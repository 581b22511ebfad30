// SPDX-License-Identifier: Apache-2.0
//
// File: token_store.h
//
// A data set as token ids, made once and kept over all epochs and trials, and
// the padded batches that are cut out of it.
//
//   Expected<TokenStore> store = Tokenize(data, rows, tokenizer, options);
//   PaddedBatch batch;
//   store.value().Pad(rows_of_batch, {.pad_id = 0}, batch);
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// How a pair is read. Apart, a store of n pairs has 2n rows: 0 to n-1 are the
// first texts, n to 2n-1 the second ones, each with the label, the target and
// the weight of its pair.
enum class PairForm {
  kJoined,  // [CLS] a [SEP] b [SEP]: one row
  kApart,   // [CLS] a [SEP], [CLS] b [SEP]: for heads that compare two texts
};

struct PadOptions {
  std::int64_t pad_id = 0;
  // The width is rounded up to a multiple of this, for tensor cores.
  std::size_t multiple = 1;
  std::size_t max_width = 0;  // what rounding may not pass; 0: no bound
};

// rows x width, row by row: what a model reads. Kept and filled again.
struct PaddedBatch {
  std::size_t rows = 0;
  std::size_t width = 0;  // of the longest row: dynamic padding
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;
  std::vector<std::int64_t> mask;    // 1 where there is a token
  std::vector<std::int64_t> labels;  // rows; of tagging rows x width, -100 pads
  std::vector<float> targets;        // rows, of regression
  std::vector<float> weights;        // rows
};

// Immutable; any number of threads may read it.
class TokenStore {
 public:
  std::size_t size() const { return offsets_.size() - 1; }
  std::size_t token_total() const { return ids_.size(); }
  std::vector<std::uint32_t> Lengths() const;
  // Of one row: the tokens, and for tagging a label for each of them.
  std::span<const std::int32_t> ids(std::size_t row) const;
  std::span<const std::int32_t> token_labels(std::size_t row) const;

  // `rows` count from 0 in the order that Tokenize was given.
  void Pad(std::span<const std::uint32_t> rows, const PadOptions& options,
           PaddedBatch& batch) const;

 private:
  friend Expected<TokenStore> Tokenize(const Dataset& data,
                                       std::span<const std::uint32_t> rows,
                                       const Tokenizer& tokenizer,
                                       const EncodeOptions& options,
                                       PairForm form);
  Expected<Done> Add(const Dataset& data, std::uint32_t row,
                     const Encoding& encoding);

  bool tagging_ = false;
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::int32_t> ids_;
  std::vector<std::uint8_t> types_;
  std::vector<std::int32_t> token_labels_;  // of tagging
  std::vector<std::int32_t> labels_;        // of the rows
  std::vector<float> targets_;
  std::vector<float> weights_;
};

// Encodes these rows in this order, cut to options.max_length. kMisuse for
// texts apart where the data are no pairs.
Expected<TokenStore> Tokenize(const Dataset& data,
                              std::span<const std::uint32_t> rows,
                              const Tokenizer& tokenizer,
                              const EncodeOptions& options,
                              PairForm form = PairForm::kJoined);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
