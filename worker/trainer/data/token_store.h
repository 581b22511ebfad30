// SPDX-License-Identifier: Apache-2.0
//
// File: token_store.h
//
// Holds a data set as token ids, made once for all epochs and trials, and pads
// batches of it.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Plans which rows are read together, and in which order, from (lengths,
// options, epoch) alone, so a checkpoint needs only a BatchPosition.

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

// Decides which rows go together in which batch.
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

// Goes through the batches of a planner, epoch after epoch.
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

// How a model reads a pair, or choices. Apart, rows 0 to n-1 are the first
// texts of n pairs, n to 2n-1 the second ones, each with its pair's label,
// target and weight.
enum class PairForm {
  kJoined,  // [CLS] a [SEP] b [SEP]: one row
  kApart,   // compared: [CLS] a [SEP], [CLS] b [SEP]
  kRight,   // of choices the right one alone, to train on
};

// A prompt p and an answer a are one row, p a, whose last token is left out: it
// is only told. A token's label is the next token where that is of the answer,
// else kIgnoredLabel. Behind an answer comes a token that ends it. A choice has
// none, and each choice of an example is a row.
//
//   The sky is | blue <end>      ids     The sky is blue
//                                labels  -   -   blue <end>

struct PadOptions {
  std::int64_t pad_id = 0;
  // The width is rounded up to a multiple of this, for tensor cores.
  std::size_t multiple = 1;
  std::size_t max_width = 0;  // rounding may not pass it; 0: no bound
};

// A padded batch of rows x width numbers, row by row. It is filled again for
// each batch.
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

// The token ids and labels of a data set. It is immutable; any number of
// threads may read it.
class TokenStore {
 public:
  std::size_t size() const { return offsets_.size() - 1; }
  std::size_t token_total() const { return ids_.size(); }
  std::vector<std::uint32_t> Lengths() const;
  std::span<const std::int32_t> ids(std::size_t row) const;
  RowKey key(std::size_t row) const { return keys_[row]; }
  // Who draws: the text, and another one where it occurs again.
  RowKey drawer(std::size_t row) const;
  // Only tagging has labels; of a data set without labels each word has 0. Of
  // an answer the next tokens.
  std::span<const std::int32_t> token_labels(std::size_t row) const;
  // How often a model reads each of the classes 0 to `classes` - 1.
  std::vector<std::uint64_t> CountLabels(std::size_t classes) const;
  std::span<const UnreadWord> unread(std::size_t row) const;
  // The tokens of a row before its answer.
  std::span<const std::int32_t> prompt(std::size_t row) const;
  // Whether the row's answer goes on beyond options.max_length.
  bool is_cut(std::size_t row) const { return !cut_.empty() && cut_[row]; }
  std::size_t cut_total() const;
  // How long the text of the row's answer is.
  std::uint32_t answer_bytes(std::size_t row) const {
    return answer_bytes_[row];
  }
  // Where each example's choices end among the rows, and which of all rows is
  // the right one. Empty of other tasks, and of kRight.
  struct Choices {
    std::uint32_t end = 0;
    std::uint32_t right = 0;
  };
  std::span<const Choices> choices() const { return choices_; }
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
  // Adds a row of a prompt and what answers it; -1: no token ends it.
  void AddAnswer(std::span<const std::int32_t> prompt,
                 std::span<const std::int32_t> answer, std::int32_t end,
                 std::size_t max_length);
  void CloseRow(double weight);
  Expected<Done> AddAnswers(const Dataset& data,
                            std::span<const std::uint32_t> rows,
                            const Tokenizer& tokenizer,
                            const EncodeOptions& options, PairForm form,
                            const StopSign& stop);
  void CountRepeats();
  void AddUnread(std::span<const std::int32_t> word_labels,
                 const Encoding& encoding);

  bool by_token_ = false;  // labels, of tagging and of answers
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::int32_t> ids_;
  std::vector<std::uint8_t> types_;
  std::vector<RowKey> keys_;                 // of the rows
  std::vector<std::uint32_t> repeats_;       // of a row's text, before it
  std::vector<std::int32_t> token_labels_;   // by_token_
  std::size_t words_ = 0;                    // of tagging
  std::vector<UnreadWord> unread_;           // of tagging
  std::vector<std::uint64_t> unread_ends_;   // by row, of tagging
  std::vector<bool> cut_;                    // of answers
  std::vector<std::uint32_t> answer_bytes_;  // of answers
  std::vector<Choices> choices_;             // by example
  std::vector<std::int32_t> labels_;         // of the rows
  std::vector<float> targets_;
  std::vector<float> weights_;
};

// Encodes these rows in this order, cut to options.max_length. Returns kMisuse
// for kApart where the data are no pairs, and for a prompt that leaves its
// answer no token. Answers end with the tokenizer's end() token. It asks `stop`
// before each row.
Expected<TokenStore> Tokenize(const Dataset& data,
                              std::span<const std::uint32_t> rows,
                              const Tokenizer& tokenizer,
                              const EncodeOptions& options,
                              PairForm form = PairForm::kJoined,
                              const StopSign& stop = {});

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TOKEN_STORE_H_
