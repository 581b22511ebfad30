// SPDX-License-Identifier: Apache-2.0
//
// File: type_words.h
#ifndef FROSTLINE_CLI_HELP_TYPE_WORDS_H_
#define FROSTLINE_CLI_HELP_TYPE_WORDS_H_

#include <string>
#include <vector>

namespace frostline::cli {

// What a value may be: "table" and "json" of "{table,json}", "gpu" of "N|gpu".
std::vector<std::string> WordsOfType(const std::string& type);

// The parser's own words for people: "table|json" of "TEXT:{table,json}", "N
// from 1 to 64" of "N:INT in [1 - 64]"; others stay as they are.
std::string ShownType(const std::string& type);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_TYPE_WORDS_H_
