// SPDX-License-Identifier: Apache-2.0
#include "cli/help/type_words.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace frostline::cli {

std::vector<std::string> WordsOfType(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  const bool is_set = open != std::string::npos && close != std::string::npos;
  if (!is_set && !absl::StrContains(type, "|")) return {};
  const std::string text =
      is_set ? type.substr(open + 1, close - open - 1) : type;
  std::vector<std::string> words;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(",|"), absl::SkipEmpty())) {
    // A set's words are meant; outside one, a word in capitals is a kind.
    const bool is_kind =
        !is_set && std::none_of(word.begin(), word.end(), [](unsigned char c) {
          return std::islower(c) != 0;
        });
    if (!is_kind) words.emplace_back(word);
  }
  return words;
}

}  // namespace frostline::cli
