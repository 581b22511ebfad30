// SPDX-License-Identifier: Apache-2.0
//
// File: normalizer.h
//
// First a text becomes a simpler one. Implementations are immutable and shared
// by threads.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // `raw` is well-formed UTF-8 and begins at code point `base` of its text. It
  // replaces `out`, in time linear in `raw`.
  virtual void Run(std::string_view raw, std::uint32_t base,
                   NormalizedText& out) const = 0;
};

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
