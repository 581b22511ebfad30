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

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/normalizer.h"
#include "worker/trainer/text/pre_tokenizer.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/vocabulary.h"

namespace frostline::trainer {

// Finds tokens as they are written, before any model is asked: "[MASK]", "<s>".
// The leftmost wins, of those the longest.

struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool takes_left_space = false;   // white space before it is its own
  bool takes_right_space = false;  // and after it
  bool normalized = false;         // found after normalizing, not before
};

// A section is an added token, or what lies between two.
struct Section {
  ByteRange range;
  std::int32_t id;  // -1: no added token
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Contents are unique, not empty and at most kMaxTokenBytes long.
  static Expected<AddedTokens> Make(std::vector<AddedToken> tokens);

  // Replaces `sections` by those of `text`, in order, none empty, in linear
  // time.
  void Split(std::string_view text, std::vector<Section>& sections) const;

 private:
  const AddedToken* Longest(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  DoubleArray trie_;                // content -> index in tokens_
  std::array<bool, 256> begins_{};  // with this byte
};

// In the last step the tokens of one or two texts are cut to what fits and get
// special tokens around them.

struct TokenRun {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> words;
  std::vector<Span> spans;

  void Clear() {
    ids.clear();
    words.clear();
    spans.clear();
  }
};

struct TemplateItem {
  enum class Kind : std::uint8_t { kSpecial, kFirst, kSecond };
  Kind kind;
  std::int32_t id;  // of a special token
  std::int32_t type_id;
};

struct Template {
  std::vector<TemplateItem> single;
  std::vector<TemplateItem> pair;
  // RoBERTa trims spans (encoder.h), but for the blank put before a text.
  bool trim_spans = false;
  bool keep_prefix_space = false;

  // [CLS] A [SEP] B [SEP] has types 0 and 1.
  static Template Bert(std::int32_t cls, std::int32_t sep);
  // <s> A </s></s> B </s> has type 0.
  static Template Roberta(std::int32_t cls, std::int32_t sep);
  // A B has types 0 and 1.
  static Template Plain();
};

struct Lengths {
  std::size_t first;
  std::size_t second;
};
Expected<Lengths> Truncate(Lengths have, bool has_second, std::size_t budget,
                           Truncation strategy);

// Replaces `encoding`; `second` is null for a single text. Returns kMisuse when
// max_length has no room for the special tokens, or the text to be cut is too
// short to make the others fit.
Expected<Done> Assemble(const Template& form, const TokenRun& first,
                        const TokenRun* second, const EncodeOptions& options,
                        Encoding& encoding);

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
