// SPDX-License-Identifier: Apache-2.0
//
// File: utf8.h
//
// Text as a terminal shows it. Bytes that are no UTF-8 count as one column.
#ifndef FROSTLINE_CLI_TERM_UTF8_H_
#define FROSTLINE_CLI_TERM_UTF8_H_

#include <string>
#include <string_view>

namespace frostline::cli {

// Columns: 2 for wide (CJK, emoji), 0 for combining marks, else 1.
int CharWidth(char32_t code);
int DisplayWidth(std::string_view text);

// With "…" at the end where it was cut.
std::string FitToWidth(const std::string& text, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_UTF8_H_
