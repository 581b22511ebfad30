// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/grapheme.h"

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

std::size_t GraphemeEnd(std::string_view text, std::size_t begin) {
  CodePoint point = DecodeAt(text, begin);
  char32_t before = point.value;
  std::size_t at = begin + point.bytes;
  if (before == U'\r' && at < text.size() && text[at] == '\n') return at + 1;
  while (at < text.size() && !Has(before, kBreaks)) {
    point = DecodeAt(text, at);
    const bool same = Has(point.value, kJoins) ||
                      (Has(before, kPrepends) && !Has(point.value, kBreaks));
    if (!same) break;
    before = point.value;
    at += point.bytes;
  }
  return at;
}

}  // namespace frostline::trainer
