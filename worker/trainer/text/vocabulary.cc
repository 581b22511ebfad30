// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/vocabulary.h"

#include <algorithm>
#include <cstddef>

#include "worker/trainer/text/limits.h"

namespace frostline::trainer {
namespace {

Fault InconsistentVocabulary(const std::string& cause) {
  return {FaultKind::kInconsistent, cause,
          "take the vocabulary that belongs to the model's weights"};
}

std::string Quoted(std::string_view token) {
  std::string quoted(1, '"');
  quoted += token.substr(0, 80);
  return quoted += '"';
}

}  // namespace

Expected<Vocabulary> Vocabulary::FromList(std::vector<std::string> tokens) {
  if (tokens.empty()) return InconsistentVocabulary("the vocabulary is empty");
  if (tokens.size() > kMaxEntries) {
    return Fault{FaultKind::kTooLarge, "more than a million tokens",
                 "take the vocabulary of a model of ours"};
  }
  std::vector<DoubleArray::Entry> entries;
  entries.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].size() > kMaxTokenBytes) {
      return Fault{FaultKind::kTooLarge,
                   "token " + std::to_string(i) + " is longer than 1024 bytes",
                   "take the vocabulary of a model of ours"};
    }
    if (tokens[i].empty()) continue;
    entries.emplace_back(tokens[i], static_cast<std::int32_t>(i));
  }
  std::sort(entries.begin(), entries.end());
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != entries.end()) {
    return InconsistentVocabulary("the token " + Quoted(twice->first) +
                                  " stands twice in the vocabulary");
  }
  Vocabulary vocabulary;
  vocabulary.trie_ = DoubleArray::Build(std::move(entries));
  vocabulary.tokens_ = std::move(tokens);
  return vocabulary;
}

Expected<Vocabulary> Vocabulary::FromPairs(
    const std::vector<std::pair<std::string_view, std::int32_t>>& pairs) {
  std::vector<std::string> tokens(pairs.size());
  std::vector<bool> given(pairs.size(), false);
  for (const auto& [token, id] : pairs) {
    const auto at = static_cast<std::size_t>(id);
    if (id < 0 || at >= tokens.size()) {
      return InconsistentVocabulary("the id of " + Quoted(token) +
                                    " leaves a gap: " + std::to_string(id) +
                                    " of " + std::to_string(tokens.size()));
    }
    if (given[at]) {
      return InconsistentVocabulary("the id " + std::to_string(id) +
                                    " is given twice");
    }
    given[at] = true;
    tokens[at] = token;
  }
  return FromList(std::move(tokens));
}

}  // namespace frostline::trainer
