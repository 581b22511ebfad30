// SPDX-License-Identifier: Apache-2.0
//
// File: token_store.h
//
// Holds a data set as token ids, made once for all epochs and trials, and pads
// batches of it.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Apart, rows 0 to n-1 are the first texts of n pairs, n to 2n-1 the second
// ones, each with its pair's label, target and weight.
enum class PairForm {
  kJoined,  // [CLS] a [SEP] b [SEP]: one row
  kApart,   // compared: [CLS] a [SEP], [CLS] b [SEP]
};

struct PadOptions {
  std::int64_t pad_id = 0;
  // The width is rounded up to a multiple of this, for tensor cores.
  std::size_t multiple = 1;
  std::size_t max_width = 0;  // rounding may not pass it; 0: no bound
};

// Holds rows x width, row by row, and is filled again for each batch.
struct PaddedBatch {
  std::size_t rows = 0;
  std::size_t width = 0;  // of the longest row
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;
  std::vector<std::int64_t> mask;    // 1 where there is a token
  std::vector<std::int64_t> labels;  // rows; of tagging rows x width, -100 pads
  std::vector<float> targets;        // rows, of regression
  std::vector<float> weights;        // rows
};

// A labelled word of which no token is there: it is beyond options.max_length,
// or the tokenizer makes nothing of it.
struct UnreadWord {
  std::uint32_t place = 0;  // among the labelled words of its row
  std::int32_t label = 0;
};

// It is immutable; any number of threads may read it.
class TokenStore {
 public:
  std::size_t size() const { return offsets_.size() - 1; }
  std::size_t token_total() const { return ids_.size(); }
  std::vector<std::uint32_t> Lengths() const;
  std::span<const std::int32_t> ids(std::size_t row) const;
  RowKey key(std::size_t row) const { return keys_[row]; }
  // Who draws: the text, and another one where it occurs again.
  RowKey drawer(std::size_t row) const;
  // Only tagging has labels; of a data set without labels each word has 0.
  std::span<const std::int32_t> token_labels(std::size_t row) const;
  // How often a model reads each of the classes 0 to `classes` - 1.
  std::vector<std::uint64_t> CountLabels(std::size_t classes) const;
  std::span<const UnreadWord> unread(std::size_t row) const;
  // Returns how many words have a label, whether they are read or not.
  std::size_t word_total() const { return words_; }
  std::size_t unread_total() const { return unread_.size(); }

  // `rows` count from 0 in the order that Tokenize was given.
  void Pad(std::span<const std::uint32_t> rows, const PadOptions& options,
           PaddedBatch& batch) const;

 private:
  friend Expected<TokenStore> Tokenize(const Dataset& data,
                                       std::span<const std::uint32_t> rows,
                                       const Tokenizer& tokenizer,
                                       const EncodeOptions& options,
                                       PairForm form, const StopSign& stop);
  Expected<Done> Add(const Dataset& data, std::uint32_t row,
                     const Encoding& encoding);
  void CountRepeats();
  void AddUnread(std::span<const std::int32_t> word_labels,
                 const Encoding& encoding);

  bool tagging_ = false;
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::int32_t> ids_;
  std::vector<std::uint8_t> types_;
  std::vector<RowKey> keys_;                // of the rows
  std::vector<std::uint32_t> repeats_;      // of a row's text, before it
  std::vector<std::int32_t> token_labels_;  // of tagging
  std::size_t words_ = 0;                   // of tagging
  std::vector<UnreadWord> unread_;          // of tagging
  std::vector<std::uint64_t> unread_ends_;  // by row, of tagging
  std::vector<std::int32_t> labels_;        // of the rows
  std::vector<float> targets_;
  std::vector<float> weights_;
};

// Encodes these rows in this order, cut to options.max_length. Returns kMisuse
// for kApart where the data are no pairs. It asks `stop` before each row.
Expected<TokenStore> Tokenize(const Dataset& data,
                              std::span<const std::uint32_t> rows,
                              const Tokenizer& tokenizer,
                              const EncodeOptions& options,
                              PairForm form = PairForm::kJoined,
                              const StopSign& stop = {});

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
