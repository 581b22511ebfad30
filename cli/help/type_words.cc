// SPDX-License-Identifier: Apache-2.0
#include "cli/help/type_words.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace frostline::cli {
namespace {

constexpr std::string_view kRange = " in [";
constexpr double kNoBound = 1e9;

}  // namespace

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

std::string ShownType(const std::string& type) {
  const std::vector<std::string> words = absl::StrContains(type, ":{")
                                             ? WordsOfType(type)
                                             : std::vector<std::string>();
  if (!words.empty()) return absl::StrJoin(words, "|");
  const std::size_t range = type.find(kRange);
  const std::size_t between = type.find(" - ", range);
  if (range == std::string::npos || between == std::string::npos) return type;
  const std::string kind = type.substr(0, type.find(':'));
  const std::size_t least = range + kRange.size();
  const std::string from = type.substr(least, between - least);
  const std::string to =
      type.substr(between + 3, type.find(']', between) - between - 3);
  double most = 0.0;
  // The largest that a number can be is no bound that anybody meets.
  const bool is_bound = absl::SimpleAtod(to, &most) && most < kNoBound;
  return absl::StrCat(kind, " from ", from, is_bound ? " to " : "",
                      is_bound ? to : "");
}

}  // namespace frostline::cli
