// SPDX-License-Identifier: Apache-2.0
#include "sampler/sampler.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace frostline::sampler {
namespace {

// The whole text or nothing: " 5", "5x" and "" are no numbers.
template <typename Number>
std::optional<Number> ParseWhole(const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::size_t CountEdits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, change});
    }
  }
  return row.back();
}

std::string SuggestOption(const std::string& name,
                          const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return absl::StrCat(
      nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? "),
      "there are: ", absl::StrJoin(known, ", "));
}

}  // namespace

std::string NearestName(const std::string& name,
                        const std::vector<std::string>& names) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(name.size() / 2, 2) + 1;
  // A longer text is nobody's slip of the finger, and costly to compare.
  if (name.size() > 64) return best;
  const std::string lower = absl::AsciiStrToLower(name);
  for (const std::string& candidate : names) {
    const std::size_t edits =
        CountEdits(lower, absl::AsciiStrToLower(candidate));
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

absl::Status UnknownName(ErrorId error, const std::string& what,
                         const std::string& name,
                         const std::vector<std::string>& known,
                         const std::string& field) {
  return MakeError(error, absl::StrCat("there is no ", what, " \"", name, "\""),
                   SuggestOption(name, known), field);
}

OptionReader::OptionReader(ErrorId error, std::string owner, std::string field,
                           const Options& options)
    : error_(error),
      owner_(std::move(owner)),
      field_(std::move(field)),
      options_(options) {}

const std::string* OptionReader::Find(const std::string& name) {
  known_.push_back(name);
  const auto found = options_.find(name);
  return found == options_.end() ? nullptr : &found->second;
}

void OptionReader::Refuse(const std::string& name, const std::string& text,
                          const std::string& expected) {
  if (!first_error_.ok()) return;
  first_error_ = MakeError(
      error_,
      absl::StrCat("option ", name, " of ", owner_, " is \"", text, "\""),
      absl::StrCat("give ", expected, ", or leave it out"),
      absl::StrCat(field_, ".", name));
}

std::int64_t OptionReader::Int(const std::string& name, std::int64_t otherwise,
                               std::int64_t min, std::int64_t max) {
  const std::string* const text = Find(name);
  if (text == nullptr) return otherwise;
  const auto value = ParseWhole<std::int64_t>(*text);
  if (value.has_value() && *value >= min && *value <= max) return *value;
  Refuse(name, *text, absl::StrCat("a whole number from ", min, " to ", max));
  return otherwise;
}

double OptionReader::Number(const std::string& name, double otherwise,
                            double min, double max) {
  const std::string* const text = Find(name);
  if (text == nullptr) return otherwise;
  const auto value = ParseWhole<double>(*text);
  if (value.has_value() && *value >= min && *value <= max) return *value;
  Refuse(name, *text, absl::StrCat("a number from ", min, " to ", max));
  return otherwise;
}

bool OptionReader::Bool(const std::string& name, bool otherwise) {
  const std::string word =
      OneOf(name, otherwise ? "true" : "false", {"true", "false"});
  return word == "true";
}

std::string OptionReader::OneOf(const std::string& name,
                                const std::string& otherwise,
                                const std::vector<std::string>& choices) {
  const std::string* const text = Find(name);
  if (text == nullptr) return otherwise;
  const bool known =
      std::find(choices.begin(), choices.end(), *text) != choices.end();
  if (known) return *text;
  Refuse(name, *text, absl::StrJoin(choices, " or "));
  return otherwise;
}

absl::Status OptionReader::Finish() const {
  if (!first_error_.ok()) return first_error_;
  for (const auto& [name, value] : options_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string field = absl::StrCat(field_, ".", name);
    if (known_.empty()) {
      return MakeError(error_, absl::StrCat(owner_, " has no options"),
                       "leave the options out", field);
    }
    return UnknownName(error_, absl::StrCat("option of ", owner_, " named"),
                       name, known_, field);
  }
  return absl::OkStatus();
}

}  // namespace frostline::sampler
