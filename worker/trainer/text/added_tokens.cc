// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/added_tokens.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {
namespace {

// White space that ends at `end`, not reaching back over `floor`.
std::size_t SpaceBefore(std::string_view text, std::size_t floor,
                        std::size_t end) {
  while (end > floor) {
    std::size_t begin = end - 1;
    while (begin > floor && IsContinuation(text[begin])) --begin;
    if (!Has(DecodeAt(text, begin).value, kWhiteSpace)) break;
    end = begin;
  }
  return end;
}

std::size_t SpaceAfter(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const CodePoint point = DecodeAt(text, begin);
    if (!Has(point.value, kWhiteSpace)) break;
    begin += point.bytes;
  }
  return begin;
}

}  // namespace

Expected<AddedTokens> AddedTokens::Make(std::vector<AddedToken> tokens) {
  AddedTokens made;
  std::vector<DoubleArray::Entry> entries;
  for (const AddedToken& token : tokens) {
    if (token.content.empty() || token.content.size() > kMaxTokenBytes) {
      return Fault{FaultKind::kTooLarge,
                   "an added token is empty or longer than 1024 bytes",
                   "take the tokenizer.json that belongs to the model"};
    }
    made.begins_[static_cast<unsigned char>(token.content[0])] = true;
    entries.emplace_back(token.content,
                         static_cast<std::int32_t>(entries.size()));
  }
  std::sort(entries.begin(), entries.end());
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != entries.end()) {
    return Fault{FaultKind::kInconsistent,
                 "an added token stands twice: " + std::string(twice->first),
                 "take the tokenizer.json that belongs to the model"};
  }
  made.trie_ = DoubleArray::Build(std::move(entries));
  made.tokens_ = std::move(tokens);
  return made;
}

const AddedToken* AddedTokens::Longest(std::string_view text,
                                       std::size_t at) const {
  const AddedToken* longest = nullptr;
  DoubleArray::Node node = trie_.Root();
  for (; at < text.size() && trie_.Step(node, text[at]); ++at) {
    const std::int32_t index = trie_.ValueAt(node);
    if (index >= 0) longest = &tokens_[static_cast<std::size_t>(index)];
  }
  return longest;
}

void AddedTokens::Split(std::string_view text,
                        std::vector<Section>& sections) const {
  sections.clear();
  std::size_t done = 0;
  const auto between = [&](std::size_t end) {
    if (done < end) sections.push_back({{done, end}, -1});
  };
  const auto may_begin = [this](char byte) {
    return begins_[static_cast<unsigned char>(byte)];
  };
  for (std::size_t i = 0; i < text.size() && !tokens_.empty();) {
    const AddedToken* token = may_begin(text[i]) ? Longest(text, i) : nullptr;
    if (token == nullptr) {
      ++i;
      continue;
    }
    const std::size_t after = i + token->content.size();
    const std::size_t begin =
        token->takes_left_space ? SpaceBefore(text, done, i) : i;
    const std::size_t end =
        token->takes_right_space ? SpaceAfter(text, after) : after;
    between(begin);
    sections.push_back({{begin, end}, token->id});
    done = end;
    i = std::max(after, end);
  }
  between(text.size());
}

}  // namespace frostline::trainer
