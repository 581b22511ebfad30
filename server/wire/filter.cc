// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter.h"

#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/error.h"
#include "server/wire/filter_fields.h"
#include "server/wire/filter_values.h"

namespace frostline::server {
namespace {

template <typename V>
bool Holds(const V& left, const std::string& op, const V& right) {
  if (op == "=") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

// Reads one word, quoted text or operator from the front of `text`.
absl::StatusOr<std::string> NextToken(std::string& text) {
  text = std::string(absl::StripLeadingAsciiWhitespace(text));
  if (text.empty()) return InvalidFilter("the filter ends too early");
  std::size_t length = 0;
  if (text[0] == '"') {
    const std::size_t end = text.find('"', 1);
    if (end == std::string::npos) return InvalidFilter("a quote is not closed");
    std::string word = text.substr(1, end - 1);
    text.erase(0, end + 1);
    return word;
  }
  const std::string operators = "=!<>";
  const bool is_operator = operators.find(text[0]) != std::string::npos;
  while (length < text.size() && text[length] != ' ' &&
         (operators.find(text[length]) != std::string::npos) == is_operator) {
    ++length;
  }
  std::string word = text.substr(0, length);
  text.erase(0, length);
  return word;
}

}  // namespace

TrialNames NamesOf(const CheckedStudy& study) {
  TrialNames names{&study.space, {}};
  for (const Objective& objective : study.objectives) {
    names.metrics.push_back(objective.metric);
  }
  return names;
}

template <typename T>
absl::StatusOr<Filter<T>> Filter<T>::Parse(const std::string& text,
                                           const TrialNames& names) {
  Filter filter;
  std::string rest(absl::StripAsciiWhitespace(text));
  while (!rest.empty()) {
    if (!filter.terms_.empty()) {
      ASSIGN_OR_RETURN(const std::string glue, NextToken(rest));
      if (glue != "AND") return InvalidFilter("expected AND, found " + glue);
    }
    FilterTerm term;
    ASSIGN_OR_RETURN(term.field, NextToken(rest));
    ASSIGN_OR_RETURN(term.op, NextToken(rest));
    ASSIGN_OR_RETURN(term.value, NextToken(rest));
    RETURN_IF_ERROR(CheckTerm<T>(names, term));
    filter.terms_.push_back(std::move(term));
    rest = std::string(absl::StripAsciiWhitespace(rest));
  }
  return filter;
}

template <typename T>
bool Filter<T>::Matches(const T& item) const {
  for (const FilterTerm& term : terms_) {
    const Looked looked = LookAt(item, term);
    if (!looked.has_value()) {
      // What has no such label has another value than any; what has no number
      // is neither equal nor unequal to one.
      if (absl::StartsWith(term.field, "labels.") && term.op == "!=") continue;
      return false;
    }
    const bool holds =
        std::holds_alternative<double>(*looked)
            ? Holds(std::get<double>(*looked), term.op, term.number)
            : Holds(std::get<std::string>(*looked), term.op, term.value);
    if (!holds) return false;
  }
  return true;
}

template class Filter<storage::TrialRow>;
template class Filter<v1::Study>;
template class Filter<v1::Worker>;
template class Filter<v1::AuditEntry>;

}  // namespace frostline::server
