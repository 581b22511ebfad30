// SPDX-License-Identifier: Apache-2.0
//
// File: encoder.h
//
// Runs a Tokenizer, which outlives it, over texts. It holds buffers and
// remembers words, so each thread keeps its own. All faults are kMisuse or
// kTooLarge and leave the encoding empty.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_ENCODER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Remembers the tokens of short words: a text uses few words often. It is
// bounded in memory and time, whatever the words are; when full, it forgets
// everything. One thread uses it.
class WordCache {
 public:
  static constexpr std::size_t kMaxWordBytes = 48;

  WordCache() : slots_(kSlots) {}

  // Appends the pieces of a known word, or is false.
  bool Recall(std::string_view word, std::vector<Piece>& pieces) const;
  // Words above kMaxWordBytes are not kept.
  void Remember(std::string_view word, std::span<const Piece> pieces);

 private:
  static constexpr std::size_t kSlots = 1 << 17;
  static constexpr std::size_t kMaxWords = kSlots / 2;
  static constexpr std::size_t kProbes = 8;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t word = 0;    // begins here in words_
    std::uint32_t pieces = 0;  // and here in pieces_
    std::uint16_t length = 0;  // of the word; 0: the slot is free
    std::uint16_t count = 0;   // of the pieces
  };

  static std::uint64_t Hash(std::string_view word);
  void Forget();

  std::vector<Slot> slots_;
  std::string words_;
  std::vector<Piece> pieces_;
  std::size_t known_ = 0;
};

// In RoBERTa blanks at either end of a token are no part of its span.

// They count code points.
struct Blanks {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;
};

// In a model's token, which is bytes, only U+0020 is a blank.
Blanks BlanksAround(std::string_view token);
// In an added token, as the text has it, all white space is.
Blanks WhiteSpaceAround(std::string_view text);

// The reference knows a blank that was put before a text by its place alone:
// `first` token of the text, or span from 0 on.
Span Trimmed(Span span, Blanks blanks, bool first, bool keep_prefix_space);

class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Word ids count the words that the tokenizer found, from 0.
  Expected<Done> Encode(std::string_view text, const EncodeOptions& options,
                        Encoding& encoding);
  // Word ids begin again at 0 in the second text. An empty one is a pair too.
  Expected<Done> EncodePair(std::string_view first, std::string_view second,
                            const EncodeOptions& options, Encoding& encoding);
  // Encodes for tagging: word ids are indices in `words`, spans count from the
  // beginning of their word. A word may give no token.
  Expected<Done> EncodeWords(std::span<const std::string_view> words,
                             const EncodeOptions& options, Encoding& encoding);

 private:
  static constexpr std::int32_t kCountWords = -1;

  Expected<Done> Run(std::string_view text, TokenRun& run);
  void RunSection(std::string_view text, const Section& section,
                  std::uint32_t base, TokenRun& run);
  void RunPlain(ByteRange range, TokenRun& run);
  void AddAdded(std::string_view text, std::int32_t id, Span span,
                TokenRun& run);
  void AddPieces(std::string_view word);
  void AddToken(std::int32_t id, Span span, Blanks blanks, TokenRun& run);
  std::int32_t NextWord() {
    return given_word_ == kCountWords ? found_words_++ : given_word_;
  }
  bool Full(const TokenRun& run) const { return run.ids.size() >= enough_; }

  const Tokenizer& tokenizer_;
  WordCache cache_;
  Workspace workspace_;
  std::string repaired_;
  NormalizedText normalized_;
  NormalizedText rewritten_;
  std::vector<Section> sections_;
  std::vector<Section> inner_sections_;
  std::vector<ByteRange> words_;
  std::vector<Piece> pieces_;
  TokenRun first_;
  TokenRun second_;
  std::int32_t given_word_ = kCountWords;
  std::int32_t found_words_ = 0;
  std::int32_t word_ = kNoWord;  // of the tokens that are being added
  // More tokens than this are cut anyway.
  std::size_t enough_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_ENCODER_H_
