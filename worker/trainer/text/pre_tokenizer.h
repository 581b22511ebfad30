// SPDX-License-Identifier: Apache-2.0
//
// File: pre_tokenizer.h
//
// In the second step a normalized text falls into words, which a model cannot
// merge again. Implementations are immutable and shared by threads.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_PRE_TOKENIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_PRE_TOKENIZER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Splits `range` of `text`, in linear time. `words` are ranges, none empty,
  // of the returned text, which is `text` or `rewritten`.
  virtual const NormalizedText& Split(const NormalizedText& text,
                                      ByteRange range,
                                      NormalizedText& rewritten,
                                      std::vector<ByteRange>& words) const = 0;

 protected:
  PreTokenizer();
  // Returns FlagsOf, by a short way for ASCII.
  std::uint16_t FlagsAt(std::string_view text, std::size_t at,
                        std::size_t& bytes) const;

 private:
  std::array<std::uint16_t, 128> ascii_;
};

// Words end at white space, which goes; punctuation stands alone.
class BertSplit : public PreTokenizer {
 public:
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;
};

// GPT-2 splits English contractions, letters, numbers, others, each with the
// blank before it; white space keeps its last blank for the word after.
class ByteLevelSplit : public PreTokenizer {
 public:
  explicit ByteLevelSplit(bool add_prefix_space)
      : add_prefix_space_(add_prefix_space) {}
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;

 private:
  std::size_t WordEnd(std::string_view text, std::size_t begin) const;
  std::size_t RunEnd(std::string_view text, std::size_t at) const;
  std::size_t BlanksEnd(std::string_view text, std::size_t begin) const;

  bool add_prefix_space_;
};

// In SentencePiece every word begins with U+2581.
class MetaspaceSplit : public PreTokenizer {
 public:
  // With `split_white_space` all white space goes and each word gets its sign;
  // else each blank becomes the sign.
  explicit MetaspaceSplit(bool split_white_space)
      : split_white_space_(split_white_space) {}
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;

 private:
  bool split_white_space_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_PRE_TOKENIZER_H_
