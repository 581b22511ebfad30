// SPDX-License-Identifier: Apache-2.0
//
// File: tokenizer.h
//
// Turns texts into token ids, as the Rust tokenizers do.
//
//   Encoder encoder(tokenizer);  // one a thread
//   encoder.Encode("The film is awful.", {.max_length = 128}, encoding);
//
// Any bytes are a text: each ill-formed UTF-8 sequence counts as one U+FFFD.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/added_tokens.h"
#include "worker/trainer/text/normalizer.h"
#include "worker/trainer/text/pre_tokenizer.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/template.h"

namespace frostline::trainer {

struct TokenizerParts {
  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const PreTokenizer> pre_tokenizer;
  std::unique_ptr<const SubwordModel> model;
  std::vector<AddedToken> added;
  Template form;
};

// It is immutable: any number of Encoders in any threads may share one.
class Tokenizer {
 public:
  // Ids of added tokens are those of the model or follow them densely.
  static Expected<Tokenizer> Make(TokenizerParts parts);

  std::int32_t vocabulary_size() const { return size_; }  // added tokens too
  // Knows "[PAD]" or "<pad>".
  std::optional<std::int32_t> IdOf(std::string_view token) const;

 private:
  friend class Encoder;

  Tokenizer() = default;

  TokenizerParts parts_;
  AddedTokens raw_;         // found before the normalizer
  AddedTokens normalized_;  // and after it
  std::int32_t size_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_
