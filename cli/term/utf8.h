// SPDX-License-Identifier: Apache-2.0
//
// File: utf8.h
//
// The width of UTF-8 text. An invalid byte counts as one column.
#ifndef FROSTLINE_CLI_TERM_UTF8_H_
#define FROSTLINE_CLI_TERM_UTF8_H_

#include <string>
#include <string_view>

namespace frostline::cli {

// Return the width in columns: 2 for wide characters (CJK, emoji), 0 for
// combining marks, 1 for others.
int CharWidth(char32_t code);
int DisplayWidth(std::string_view text);

// Cuts the text to `width` columns; a cut text ends with "…".
std::string FitToWidth(const std::string& text, int width);

// Breaks lines at blanks so that they fit, each with a newline. A word that is
// too long gets its own line. A width below 1 breaks nothing.
std::string WrapText(const std::string& text, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_UTF8_H_
