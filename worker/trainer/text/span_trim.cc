// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/span_trim.h"

#include <algorithm>
#include <cstddef>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

Blanks BlanksAround(std::string_view token) {
  const std::size_t first = token.find_first_not_of(' ');
  const auto size = static_cast<std::uint32_t>(token.size());
  if (first == std::string_view::npos) return {size, size};
  const std::size_t last = token.find_last_not_of(' ');
  return {static_cast<std::uint32_t>(first),
          size - 1 - static_cast<std::uint32_t>(last)};
}

Blanks WhiteSpaceAround(std::string_view text) {
  Blanks blanks;
  for (std::size_t i = 0; i < text.size(); ++blanks.leading) {
    const CodePoint point = DecodeAt(text, i);
    if (!Has(point.value, kWhiteSpace)) break;
    i += point.bytes;
  }
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && IsContinuation(text[begin])) --begin;
    if (!Has(DecodeAt(text, begin).value, kWhiteSpace)) break;
    text = text.substr(0, begin);
    ++blanks.trailing;
  }
  return blanks;
}

Span Trimmed(Span span, Blanks blanks, bool first, bool keep_prefix_space) {
  const bool put_there =
      (first || span.begin == 0) && keep_prefix_space && blanks.leading == 1;
  if (!put_there) {
    span.begin = std::min(span.begin + blanks.leading, span.end);
  }
  if (span.end >= blanks.trailing) {
    span.end = std::max(span.end - blanks.trailing, span.begin);
  }
  return span;
}

}  // namespace frostline::trainer
