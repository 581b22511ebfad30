// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace frostline::trainer {
namespace {

Fault InconsistentTokenizer(const std::string& cause) {
  return {FaultKind::kInconsistent, cause,
          "take the tokenizer.json that belongs to the model"};
}

// An id is that of the model, or the next one that is free.
std::optional<Fault> CheckIds(std::vector<AddedToken> added,
                              const SubwordModel& model, std::int32_t& size) {
  std::sort(added.begin(), added.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  size = model.vocabulary_size();
  for (const AddedToken& token : added) {
    const std::int32_t known = model.IdOf(token.content).value_or(size);
    if (token.id != known) {
      return InconsistentTokenizer("the added token " + token.content +
                                   " has id " + std::to_string(token.id) +
                                   ", not " + std::to_string(known));
    }
    size = std::max(size, token.id + 1);
  }
  return std::nullopt;
}

}  // namespace

Expected<Tokenizer> Tokenizer::Make(TokenizerParts parts) {
  Tokenizer made;
  if (std::optional<Fault> fault =
          CheckIds(parts.added, *parts.model, made.size_)) {
    return *std::move(fault);
  }
  for (const Template* form = &parts.form;
       const TemplateItem& item : form->pair) {
    if (item.id >= made.size_) {
      return InconsistentTokenizer("a special token of the template has no id");
    }
  }
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  NormalizedText text;
  for (const AddedToken& token : parts.added) {
    if (!token.normalized) {
      raw.push_back(token);
      continue;
    }
    parts.normalizer->Run(token.content, 0, text);
    normalized.push_back(token);
    normalized.back().content = text.bytes();
  }
  Expected<AddedTokens> raw_set = AddedTokens::Make(std::move(raw));
  if (!raw_set.ok()) return raw_set.fault();
  Expected<AddedTokens> normalized_set =
      AddedTokens::Make(std::move(normalized));
  if (!normalized_set.ok()) return normalized_set.fault();
  made.raw_ = std::move(raw_set).value();
  made.normalized_ = std::move(normalized_set).value();
  made.parts_ = std::move(parts);
  return made;
}

std::optional<std::int32_t> Tokenizer::IdOf(std::string_view token) const {
  for (const AddedToken& added : parts_.added) {
    if (added.content == token) return added.id;
  }
  return parts_.model->IdOf(token);
}

}  // namespace frostline::trainer
