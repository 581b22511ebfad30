// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <string>
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

namespace {

using Kind = TemplateItem::Kind;

template <typename T>
void AppendFirst(const std::vector<T>& from, std::size_t count,
                 std::vector<T>& to) {
  to.insert(to.end(), from.begin(),
            from.begin() + static_cast<std::ptrdiff_t>(count));
}

void AppendRun(const TokenRun& run, std::size_t count, std::int32_t type_id,
               Encoding& encoding) {
  AppendFirst(run.ids, count, encoding.ids);
  AppendFirst(run.words, count, encoding.word_ids);
  AppendFirst(run.spans, count, encoding.spans);
  encoding.type_ids.resize(encoding.ids.size(), type_id);
  encoding.special_mask.resize(encoding.ids.size(), 0);
}

void AppendSpecial(const TemplateItem& item, Encoding& encoding) {
  encoding.ids.push_back(item.id);
  encoding.word_ids.push_back(kNoWord);
  encoding.spans.push_back({});
  encoding.type_ids.push_back(item.type_id);
  encoding.special_mask.push_back(1);
}

Fault Misuse(const std::string& cause) {
  return {FaultKind::kMisuse, cause,
          "raise max_length or choose longest_first"};
}

}  // namespace

Template Template::Bert(std::int32_t cls, std::int32_t sep) {
  Template form;
  form.single = {{Kind::kSpecial, cls, 0},
                 {Kind::kFirst, -1, 0},
                 {Kind::kSpecial, sep, 0}};
  form.pair = form.single;
  form.pair.push_back({Kind::kSecond, -1, 1});
  form.pair.push_back({Kind::kSpecial, sep, 1});
  return form;
}

Template Template::Roberta(std::int32_t cls, std::int32_t sep) {
  Template form;
  form.single = {{Kind::kSpecial, cls, 0},
                 {Kind::kFirst, -1, 0},
                 {Kind::kSpecial, sep, 0}};
  form.pair = form.single;
  form.pair.push_back({Kind::kSpecial, sep, 0});
  form.pair.push_back({Kind::kSecond, -1, 0});
  form.pair.push_back({Kind::kSpecial, sep, 0});
  return form;
}

Template Template::Plain() {
  Template form;
  form.single = {{Kind::kFirst, -1, 0}};
  form.pair = {{Kind::kFirst, -1, 0}, {Kind::kSecond, -1, 1}};
  return form;
}

Expected<Lengths> Truncate(Lengths have, bool has_second, std::size_t budget,
                           Truncation strategy) {
  const std::size_t total = have.first + have.second;
  if (total <= budget) return have;
  if (budget == 0) return Lengths{0, 0};
  if (strategy == Truncation::kLongestFirst) {
    if (!has_second) return Lengths{budget, 0};
    // The shorter keeps its length when it fits in its half; an odd token is
    // the longer one's, of equals the second one's.
    std::size_t& shorter = have.first > have.second ? have.second : have.first;
    std::size_t& longer = have.first > have.second ? have.first : have.second;
    shorter = std::min(shorter, budget / 2);
    longer = budget - shorter;
    return have;
  }
  const bool cut_first = strategy == Truncation::kOnlyFirst;
  if (!cut_first && !has_second)
    return Misuse("there is no second text to cut");
  std::size_t& cut = cut_first ? have.first : have.second;
  const std::size_t excess = total - budget;
  if (cut <= excess) {
    return Misuse("the text to cut is too short for the others to fit");
  }
  cut -= excess;
  return have;
}

Expected<Done> Assemble(const Template& form, const TokenRun& first,
                        const TokenRun* second, const EncodeOptions& options,
                        Encoding& encoding) {
  encoding.Clear();
  const auto& items = second != nullptr ? form.pair : form.single;
  const auto is_special = [](const TemplateItem& item) {
    return item.kind == Kind::kSpecial;
  };
  Lengths keep{first.ids.size(), second != nullptr ? second->ids.size() : 0};
  if (options.max_length != 0) {
    const auto specials = static_cast<std::size_t>(
        options.add_special_tokens
            ? std::count_if(items.begin(), items.end(), is_special)
            : 0);
    if (specials > options.max_length) {
      return Misuse("max_length has no room for the special tokens");
    }
    ASSIGN_OR_FAULT(Lengths cut, Truncate(keep, second != nullptr,
                                          options.max_length - specials,
                                          options.truncation));
    keep = cut;
  }
  for (const TemplateItem& item : items) {
    if (item.kind == Kind::kFirst) {
      AppendRun(first, keep.first, item.type_id, encoding);
    } else if (item.kind == Kind::kSecond && second != nullptr) {
      AppendRun(*second, keep.second, item.type_id, encoding);
    } else if (is_special(item) && options.add_special_tokens) {
      AppendSpecial(item, encoding);
    }
  }
  encoding.attention_mask.assign(encoding.size(), 1);
  return Done{};
}

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
  ASSIGN_OR_FAULT(AddedTokens raw_set, AddedTokens::Make(std::move(raw)));
  ASSIGN_OR_FAULT(AddedTokens normalized_set,
                  AddedTokens::Make(std::move(normalized)));
  made.raw_ = std::move(raw_set);
  made.normalized_ = std::move(normalized_set);
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
