// SPDX-License-Identifier: Apache-2.0
//
// File: encoding.h
//
// What a tokenizer makes of a text: parallel arrays, with one element for each
// token. Filling them again allocates next to nothing.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_ENCODING_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

// Code points [begin, end) of the text, or of the word where words were given.
// Special tokens have {0, 0}.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const Span&, const Span&) = default;
};

inline constexpr std::int32_t kNoWord = -1;

struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;        // 0 or 1: which text
  std::vector<std::int32_t> attention_mask;  // all 1: padding is the batcher's
  std::vector<std::int32_t> special_mask;    // 1: put there by the template
  std::vector<std::int32_t> word_ids;        // kNoWord at special tokens
  std::vector<Span> spans;

  std::size_t size() const { return ids.size(); }

  void Clear() {
    ids.clear();
    type_ids.clear();
    attention_mask.clear();
    special_mask.clear();
    word_ids.clear();
    spans.clear();
  }
};

enum class Truncation {
  kLongestFirst,  // both texts, the longer one first
  kOnlyFirst,
  kOnlySecond,
};

struct EncodeOptions {
  // It counts special tokens too; 0 is as many as there are.
  std::size_t max_length = 0;
  Truncation truncation = Truncation::kLongestFirst;
  bool add_special_tokens = true;
};

// Losses and metrics leave it out.
inline constexpr std::int32_t kIgnoredLabel = -100;

// `encoding` is of EncodeWords. A word's label goes to its first token,
// kIgnoredLabel to all others; a word without tokens loses its label. Returns
// kMisuse when a word with tokens has none.
Expected<Done> AlignLabels(const Encoding& encoding,
                           std::span<const std::int32_t> word_labels,
                           std::vector<std::int32_t>& token_labels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_ENCODING_H_
