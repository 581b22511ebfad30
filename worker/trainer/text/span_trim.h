// SPDX-License-Identifier: Apache-2.0
//
// File: span_trim.h
//
// In RoBERTa blanks at either end of a token are no part of its span.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_SPAN_TRIM_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_SPAN_TRIM_H_

#include <cstdint>
#include <string_view>

#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

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
Span Trimmed(Span span, Blanks blanks, bool first, bool keep_prefix_space);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_SPAN_TRIM_H_
