// SPDX-License-Identifier: Apache-2.0
//
// File: utf8.h
//
// Bytes that are no UTF-8 count as one column.
#ifndef FROSTLINE_CLI_TERM_UTF8_H_
#define FROSTLINE_CLI_TERM_UTF8_H_

#include <string>
#include <string_view>

namespace frostline::cli {

// Wide ones (CJK, emoji) take 2 columns, combining marks 0, others 1.
int CharWidth(char32_t code);
int DisplayWidth(std::string_view text);

// Ends with "…" where it was cut.
std::string FitToWidth(const std::string& text, int width);

// Breaks lines at blanks so that they fit, each with its newline; a longer word
// has a line of its own. A width below 1 breaks nothing.
std::string WrapText(const std::string& text, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_UTF8_H_
