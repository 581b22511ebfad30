// SPDX-License-Identifier: Apache-2.0
//
// File: tokenizer.h
//
// Turns texts into token ids, as the Rust tokenizers do.
//
//   Encoder encoder(tokenizer);  // one a thread
//   encoder.Encode("The film is awful.", {.max_length = 128}, encoding);
//
// A text passes five steps:
//
//   AddedTokens -> Normalizer -> PreTokenizer -> SubwordModel -> Template
//   "[MASK]"       clean, fold   words           tokens          [CLS] .. [SEP]
//
// Every step takes time linear in the text; byte-level BPE takes n log n. Any
// bytes are a text: each ill-formed UTF-8 sequence counts as one U+FFFD.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/chat_template.h"
#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/normalizer.h"
#include "worker/trainer/text/subword_model.h"

namespace frostline::trainer {

// Finds tokens as they are written, before any model is asked: "[MASK]", "<s>".
// The leftmost wins, of those the longest.

struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool takes_left_space = false;   // white space before it is its own
  bool takes_right_space = false;  // and after it
  bool normalized = false;         // found after normalizing, not before
  bool special = false;            // no part of what a model says
};

// A section is an added token, or what lies between two.
struct Section {
  ByteRange range;
  std::int32_t id;  // -1: no added token
};

// The added tokens of a tokenizer.
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
  // RoBERTa trims spans, but for the blank put before a text.
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

// All steps from a text to token ids. It is immutable: any number of Encoders
// in any threads may share one.
class Tokenizer {
 public:
  // Ids of added tokens are those of the model or follow them densely.
  static Expected<Tokenizer> Make(TokenizerParts parts);

  std::int32_t vocabulary_size() const { return size_; }  // added tokens too
  // Knows "[PAD]" or "<pad>".
  std::optional<std::int32_t> IdOf(std::string_view token) const;
  // The text that these tokens stand for, without special ones; bytes that are
  // no UTF-8 become U+FFFD. Of byte-level BPE alone.
  std::string Decode(std::span<const std::int32_t> ids) const;
  // The token that ends what a decoder says, if its folder names one.
  std::optional<std::int32_t> end() const { return end_; }
  void EndWith(std::int32_t id) { end_ = id; }
  // How its model's chats are written, if the folder says and we know it.
  const ChatTemplate* chat() const { return chat_; }
  void ChatAs(const ChatTemplate* form) { chat_ = form; }

 private:
  friend class Encoder;

  Tokenizer() = default;

  TokenizerParts parts_;
  AddedTokens raw_;         // found before the normalizer
  AddedTokens normalized_;  // and after it
  std::int32_t size_ = 0;
  std::optional<std::int32_t> end_;
  const ChatTemplate* chat_ = nullptr;
};

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
Span TrimmedSpan(Span span, Blanks blanks, bool first, bool keep_prefix_space);

// Runs a Tokenizer, which outlives it, over texts. It holds buffers and
// remembers words, so each thread keeps its own. All faults are kMisuse or
// kTooLarge and leave the encoding empty.
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

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_H_
