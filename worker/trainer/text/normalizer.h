// SPDX-License-Identifier: Apache-2.0
//
// File: normalizer.h
//
// The first two steps of a tokenizer: a text is normalized, then split into
// words. Implementations are immutable and shared by threads.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "base/plain/text.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

// Each byte of a text that a normalizer left knows its code points of the
// original. Where every byte is one code point, in order (plain ASCII), nothing
// is stored.

struct ByteRange {
  std::size_t begin;
  std::size_t end;
};

// A normalized text that knows where each of its bytes comes from.
class NormalizedText {
 public:
  // Begins anew at code point `base` of the original, and keeps the buffers.
  void Clear(std::uint32_t base) {
    bytes_.clear();
    spans_.clear();
    base_ = base;
    identity_ = false;
  }

  // `ascii` stands for itself.
  void AssignIdentity(std::string_view ascii, std::uint32_t base) {
    Clear(base);
    bytes_ = ascii;
    identity_ = true;
  }

  // Well-formed `text` stands for itself.
  void Assign(std::string_view text, std::uint32_t base);

  // It must not be identity.
  void Append(char32_t c, Span span) {
    if (c < 0x80) {  // in line: by far the most
      bytes_.push_back(static_cast<char>(c));
      spans_.push_back(span);
      return;
    }
    AppendUtf8(c, bytes_);
    spans_.resize(bytes_.size(), span);
  }

  void AppendAll(std::string_view bytes, Span span) {
    bytes_.append(bytes);
    spans_.resize(bytes_.size(), span);
  }
  void AppendCopy(const NormalizedText& from, ByteRange range);

  std::string_view bytes() const { return bytes_; }
  std::string_view at(ByteRange range) const {
    return bytes().substr(range.begin, range.end - range.begin);
  }
  // Changes must keep the length; identity texts stay ASCII.
  std::string& mutable_bytes() { return bytes_; }
  std::uint32_t base() const { return base_; }

  Span SpanAt(std::size_t byte) const {
    if (!identity_) return spans_[byte];
    const std::uint32_t begin = base_ + static_cast<std::uint32_t>(byte);
    return {begin, begin + 1};
  }
  // `range` must not be empty.
  Span SpanOf(ByteRange range) const {
    return {SpanAt(range.begin).begin, SpanAt(range.end - 1).end};
  }

 private:
  std::string bytes_;
  std::vector<Span> spans_;  // one a byte, unless identity_
  std::uint32_t base_ = 0;
  bool identity_ = false;
};

// Makes a simpler text of a text.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // `raw` is well-formed UTF-8 and begins at code point `base` of its text. It
  // replaces `out`, in time linear in `raw`.
  virtual void Run(std::string_view raw, std::uint32_t base,
                   NormalizedText& out) const = 0;
};

// Leaves a text as it is.
class NoNormalizer : public Normalizer {
 public:
  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override {
    out.Assign(raw, base);
  }
};

// BERT cleans so: control characters go, white space becomes a blank,
// ideographs stand alone, accents go, capitals become small.

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// The normalizer of BERT.
class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options);

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  // Takes an ASCII `raw`, as most is. It is false when a byte goes: Run begins
  // anew.
  bool RunAscii(std::string_view raw, std::uint32_t base,
                NormalizedText& out) const;

  BertNormalizerOptions options_;
  std::array<char, 128> ascii_;  // what each becomes; 0: it goes
};

struct NfcOptions {
  // White space of two and more, a tab and an end of a line become one blank;
  // at the end of a text it goes.
  bool collapse_white_space = false;
};

// Unicode's canonical composition (ModernBERT), and what DeBERTa does besides.
class NfcNormalizer : public Normalizer {
 public:
  explicit NfcNormalizer(const NfcOptions& options) : options_(options) {}

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  NfcOptions options_;
};

// Follows RFC 4648 with its padding. Returns nothing for any other text.
std::optional<std::string> DecodeBase64(std::string_view text);

// A character map looks up grapheme clusters (UAX 29) of at most five bytes:
// the rules for Hangul, flags, emoji sequences and Indic conjuncts, whose
// clusters are longer, are left out.
//
// Says where the cluster at `begin` ends. The text must be well-formed and
// begin < text.size().
std::size_t GraphemeEnd(std::string_view text, std::size_t begin);

// A normalizer by SentencePiece's "precompiled character map". Its rules say
// which bytes become which, as a double array and a string of replacements.
// XLM-R's is NFKC with a few changes. The file's array is walked as it is,
// every step checked.
class Charsmap : public Normalizer {
 public:
  static Expected<Charsmap> Parse(std::string_view base64);

  // Returns what the shortest rule that begins `chunk` puts there, if any.
  std::optional<std::string_view> Rule(std::string_view chunk) const;

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  Charsmap() = default;

  std::vector<std::uint32_t> units_;
  std::string replacements_;       // each ends with NUL
  std::array<bool, 128> ruled_{};  // ASCII that a rule replaces
};

// The second step of a tokenizer: it splits a normalized text into words, which
// a model cannot merge again.
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
  // The end of the white space that begins here, less its last blank if a word
  // follows and it has more.
  std::size_t BlanksEnd(std::string_view text, std::size_t begin) const;

 private:
  std::array<std::uint16_t, 128> ascii_;
};

// Splits as BERT does: words end at white space, which goes; punctuation stands
// alone.
class BertSplit : public PreTokenizer {
 public:
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;
};

// Splits as GPT-2 does: into English contractions, letters, numbers and others,
// each with the blank before it. White space keeps its last blank for the word
// after.
class ByteLevelSplit : public PreTokenizer {
 public:
  // With `single_digits` each number stands alone first, as in SmolLM2, and the
  // rest is split between them.
  explicit ByteLevelSplit(bool add_prefix_space, bool single_digits = false)
      : add_prefix_space_(add_prefix_space), single_digits_(single_digits) {}
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;

 private:
  std::size_t PartEnd(std::string_view text, std::size_t begin,
                      std::size_t end) const;
  std::size_t WordEnd(std::string_view text, std::size_t begin) const;
  std::size_t RunEnd(std::string_view text, std::size_t at) const;

  bool add_prefix_space_;
  bool single_digits_;
};

// Splits as Llama 3 and Qwen do: into English contractions of any case, letters
// with one sign before them, numbers of at most so many digits, signs with the
// blank before and the ends of lines after them. White space ends behind its
// last end of a line, or keeps its last blank for the word after.
class LlamaSplit : public PreTokenizer {
 public:
  explicit LlamaSplit(int most_digits) : most_digits_(most_digits) {}
  const NormalizedText& Split(const NormalizedText& text, ByteRange range,
                              NormalizedText& rewritten,
                              std::vector<ByteRange>& words) const override;

 private:
  std::size_t WordEnd(std::string_view text, std::size_t begin) const;
  // The end of the run of `kinds` that begins here, of `most` at most.
  std::size_t RunEnd(std::string_view text, std::size_t at, std::uint16_t kinds,
                     std::size_t most) const;
  std::size_t SignsEnd(std::string_view text, std::size_t at) const;
  std::size_t WhiteSpaceEnd(std::string_view text, std::size_t begin) const;

  int most_digits_;
};

// Splits as SentencePiece does: every word begins with U+2581.
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

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
