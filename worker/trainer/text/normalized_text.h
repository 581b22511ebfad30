// SPDX-License-Identifier: Apache-2.0
//
// File: normalized_text.h
//
// Each byte of a text that a normalizer left knows its code points of the
// original. Where every byte is one code point, in order (plain ASCII), nothing
// is stored.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZED_TEXT_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZED_TEXT_H_
