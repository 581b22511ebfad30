// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/pre_tokenizer.h"

#include <cstddef>
#include <string_view>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

PreTokenizer::PreTokenizer() {
  for (std::size_t i = 0; i < ascii_.size(); ++i) {
    ascii_[i] = FlagsOf(static_cast<char32_t>(i));
  }
}

std::uint16_t PreTokenizer::FlagsAt(std::string_view text, std::size_t at,
                                    std::size_t& bytes) const {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 128) {
    bytes = 1;
    return ascii_[first];
  }
  const CodePoint point = DecodeAt(text, at);
  bytes = point.bytes;
  return FlagsOf(point.value);
}

const NormalizedText& BertSplit::Split(const NormalizedText& text,
                                       ByteRange range, NormalizedText&,
                                       std::vector<ByteRange>& words) const {
  const std::string_view bytes = text.bytes();
  std::size_t begin = range.begin;
  const auto end_word = [&](std::size_t at) {
    if (begin < at) words.push_back({begin, at});
  };
  for (std::size_t i = range.begin; i < range.end;) {
    std::size_t width = 0;
    const std::uint16_t flags = FlagsAt(bytes, i, width);
    const std::size_t next = i + width;
    if ((flags & (kWhiteSpace | kPunctuation)) != 0) {
      end_word(i);
      if ((flags & kWhiteSpace) == 0) words.push_back({i, next});
      begin = next;
    }
    i = next;
  }
  end_word(range.end);
  return text;
}

const NormalizedText& ByteLevelSplit::Split(
    const NormalizedText& text, ByteRange range, NormalizedText& rewritten,
    std::vector<ByteRange>& words) const {
  const NormalizedText* source = &text;
  if (add_prefix_space_ && range.begin < range.end &&
      text.bytes()[range.begin] != ' ') {
    rewritten.Clear(text.base());
    rewritten.AppendAll(" ", text.SpanAt(range.begin));
    rewritten.AppendCopy(text, range);
    source = &rewritten;
    range = {0, rewritten.bytes().size()};
  }
  const std::string_view bytes = source->bytes().substr(0, range.end);
  for (std::size_t i = range.begin; i < range.end;) {
    const std::size_t end = WordEnd(bytes, i);
    words.push_back({i, end});
    i = end;
  }
  return *source;
}

std::size_t ByteLevelSplit::WordEnd(std::string_view text,
                                    std::size_t begin) const {
  if (text[begin] == '\'') {
    for (const std::string_view ending :
         {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (text.substr(begin, ending.size()) == ending) {
        return begin + ending.size();
      }
    }
  }
  std::size_t width = 0;
  const std::size_t word = begin + (text[begin] == ' ' ? 1 : 0);
  if (word < text.size() && (FlagsAt(text, word, width) & kWhiteSpace) == 0) {
    return RunEnd(text, word);
  }
  return BlanksEnd(text, begin);
}

// Letters, or numbers, or what is neither, as far as they go.
std::size_t ByteLevelSplit::RunEnd(std::string_view text,
                                   std::size_t at) const {
  constexpr std::uint16_t kKinds = kLetter | kNumber | kWhiteSpace;
  std::size_t width = 0;
  const auto kind = FlagsAt(text, at, width) & kKinds;
  do {
    at += width;
  } while (at < text.size() && (FlagsAt(text, at, width) & kKinds) == kind);
  return at;
}

std::size_t ByteLevelSplit::BlanksEnd(std::string_view text,
                                      std::size_t begin) const {
  std::size_t last = begin;  // where the last blank of the run begins
  std::size_t at = begin;
  std::size_t width = 0;
  while (at < text.size() && (FlagsAt(text, at, width) & kWhiteSpace) != 0) {
    last = at;
    at += width;
  }
  return at == text.size() || last == begin ? at : last;
}

const NormalizedText& MetaspaceSplit::Split(
    const NormalizedText& text, ByteRange range, NormalizedText& rewritten,
    std::vector<ByteRange>& words) const {
  static constexpr std::string_view kSign = "\xE2\x96\x81";
  const std::string_view bytes = text.bytes().substr(0, range.end);
  rewritten.Clear(text.base());
  std::size_t begin = 0;  // of the word, in rewritten
  bool inside = false;    // of what gets one sign in front
  std::size_t copied = range.begin;
  const auto end_word = [&](std::size_t at) {
    rewritten.AppendCopy(text, {copied, at});
    copied = at;
    const std::size_t end = rewritten.bytes().size();
    if (begin < end) words.push_back({begin, end});
    begin = end;
  };
  for (std::size_t i = range.begin; i < range.end;) {
    std::size_t width = 0;
    const std::uint16_t flags = FlagsAt(bytes, i, width);
    if (split_white_space_ && (flags & kWhiteSpace) != 0) {
      end_word(i);
      copied = i + width;
      inside = false;
    } else if (bytes[i] == ' ') {
      end_word(i);
      rewritten.AppendAll(kSign, text.SpanAt(i));
      copied = i + width;
      inside = true;
    } else if (bytes.substr(i, kSign.size()) == kSign) {
      end_word(i);
      inside = true;
    } else if (!inside) {
      rewritten.AppendAll(kSign, text.SpanAt(i));
      inside = true;
    }
    i += width;
  }
  end_word(range.end);
  return rewritten;
}

}  // namespace frostline::trainer
