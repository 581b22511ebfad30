// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string_view>

#include "worker/trainer/text/pre_tokenizer.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

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
