// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/first_line.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/plain/text.h"

namespace frostline::registry {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kLongestName = 60;  // bytes
constexpr std::size_t kMostWords = 8;
constexpr std::size_t kLeastTexts = 5;

// Of columns that are no role of ours.
const Words& OtherNames() {
  static const auto* const kNames =
      new Words{"id",         "idx",       "index",  "nr",     "no",
                "name",       "date",      "source", "lang",   "sentence2",
                "hypothesis", "question2", "text2",  "text_b", "answer"};
  return *kNames;
}

bool IsAmong(const Words& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool IsUsual(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  return IsAmong(OtherNames(), lower) ||
         std::ranges::any_of(Words{"text", "label", "words", "tags"},
                             [&](const auto& role) {
                               return IsAmong(UsualNames(role), lower);
                             });
}

bool IsNumber(const std::string& text) { return ParseNumber(text).has_value(); }

bool HasBlank(const std::string& text) {
  return text.find(' ') != std::string::npos;
}

// Returns what a column has below the first line, without empty values.
Words ValuesBelow(const std::vector<Words>& lines, std::size_t column) {
  Words values;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (column >= lines[i].size()) continue;
    std::string value(Trimmed(lines[i][column]));
    if (!value.empty()) values.push_back(std::move(value));
  }
  return values;
}

bool SpeaksForNames(const std::string& first, const Words& below) {
  if (IsUsual(first)) return true;
  const bool numbers = below.size() > 1 && std::ranges::all_of(below, IsNumber);
  const bool texts =
      below.size() >= kLeastTexts && std::ranges::all_of(below, HasBlank);
  return !IsNumber(first) && (numbers || (texts && !HasBlank(first)));
}

bool SpeaksForRow(const std::string& first, const Words& below) {
  const auto blanks = std::ranges::count(first, ' ');
  return IsNumber(first) || IsAmong(below, first) ||
         first.size() > kLongestName ||
         blanks >= static_cast<std::ptrdiff_t>(kMostWords);
}

}  // namespace

FirstLine JudgeFirstLine(const std::vector<Words>& lines, const Words& named) {
  bool names = false;
  bool row = false;
  for (std::size_t i = 0; i < lines.front().size(); ++i) {
    const std::string first(Trimmed(lines.front()[i]));
    if (first.empty()) continue;
    const Words below = ValuesBelow(lines, i);
    const bool is_named = !IsNumber(first) && IsAmong(named, first);
    names = names || is_named || SpeaksForNames(first, below);
    row = row || SpeaksForRow(first, below);
  }
  if (names == row) return FirstLine::kUnclear;
  return names ? FirstLine::kNames : FirstLine::kRow;
}

const Words& UsualNames(const std::string& role) {
  static const auto* const kNames = new std::map<std::string, Words>{
      {"text", {"text",    "sentence",    "review",    "content", "comment",
                "message", "body",        "document",  "tweet",   "sentence1",
                "premise", "question1",   "text1",     "text_a",  "question",
                "title",   "description", "utterance", "query",   "input"}},
      {"label",
       {"label", "labels", "class", "category", "target", "sentiment",
        "polarity", "rating", "stars", "score", "intent", "topic", "gold_label",
        "similarity", "y", "tag"}},
      {"words", {"words", "tokens", "form"}},
      {"tags", {"tags", "upos", "ner_tags", "pos_tags", "ner", "pos"}}};
  return kNames->at(role);
}

}  // namespace frostline::registry
