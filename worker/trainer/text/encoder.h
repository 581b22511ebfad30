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
#include "worker/trainer/text/span_trim.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/word_cache.h"

namespace frostline::trainer {

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
