// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
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

std::string Tokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const auto added = std::ranges::find(parts_.added, id, &AddedToken::id);
    if (added == parts_.added.end()) {
      if (id < parts_.model->vocabulary_size()) {
        parts_.model->AppendBytes(id, text);
      }
    } else if (!added->special) {
      text += added->content;
    }
  }
  return RepairUtf8(text);
}

// Multiply and fold, eight bytes at a time. Nothing is kept by it but speed.
std::uint64_t WordCache::Hash(std::string_view word) {
  std::uint64_t hash = word.size() * 0x9E3779B97F4A7C15U;
  while (!word.empty()) {
    const std::size_t count = std::min<std::size_t>(word.size(), 8);
    std::uint64_t eight = 0;
    std::memcpy(&eight, word.data(), count);
    hash = (hash ^ eight) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
    word.remove_prefix(count);
  }
  return hash;
}

bool WordCache::Recall(std::string_view word,
                       std::vector<Piece>& pieces) const {
  if (word.size() > kMaxWordBytes) return false;
  const std::uint64_t hash = Hash(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const Slot& slot = slots_[(hash + i) % kSlots];
    if (slot.length == 0) return false;
    if (slot.hash != hash || slot.length != word.size() ||
        std::memcmp(words_.data() + slot.word, word.data(), word.size()) != 0) {
      continue;
    }
    const auto first = pieces_.begin() + slot.pieces;
    pieces.insert(pieces.end(), first, first + slot.count);
    return true;
  }
  return false;
}

void WordCache::Remember(std::string_view word, std::span<const Piece> pieces) {
  if (word.empty() || word.size() > kMaxWordBytes) return;
  if (known_ == kMaxWords) Forget();
  const std::uint64_t hash = Hash(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Slot& slot = slots_[(hash + i) % kSlots];
    if (slot.length != 0) continue;
    slot = {hash, static_cast<std::uint32_t>(words_.size()),
            static_cast<std::uint32_t>(pieces_.size()),
            static_cast<std::uint16_t>(word.size()),
            static_cast<std::uint16_t>(pieces.size())};
    words_.append(word);
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
    ++known_;
    return;
  }
}

void WordCache::Forget() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  words_.clear();
  pieces_.clear();
  known_ = 0;
}

Blanks BlanksAround(std::string_view token) {
  const std::size_t first = token.find_first_not_of(' ');
  const auto size = static_cast<std::uint32_t>(token.size());
  if (first == std::string_view::npos) return {size, size};
  const std::size_t last = token.find_last_not_of(' ');
  return {static_cast<std::uint32_t>(first),
          size - 1 - static_cast<std::uint32_t>(last)};
}

Blanks WhiteSpaceAround(std::string_view text) {
  Blanks blanks;
  for (std::size_t i = 0; i < text.size(); ++blanks.leading) {
    const CodePoint point = DecodeAt(text, i);
    if (!Has(point.value, kWhiteSpace)) break;
    i += point.bytes;
  }
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && IsContinuation(text[begin])) --begin;
    if (!Has(DecodeAt(text, begin).value, kWhiteSpace)) break;
    text = text.substr(0, begin);
    ++blanks.trailing;
  }
  return blanks;
}

Span TrimmedSpan(Span span, Blanks blanks, bool first, bool keep_prefix_space) {
  const bool put_there =
      (first || span.begin == 0) && keep_prefix_space && blanks.leading == 1;
  if (!put_there) {
    span.begin = std::min(span.begin + blanks.leading, span.end);
  }
  if (span.end >= blanks.trailing) {
    span.end = std::max(span.end - blanks.trailing, span.begin);
  }
  return span;
}

namespace {

std::size_t Enough(const EncodeOptions& options) {
  return options.max_length != 0 ? options.max_length
                                 : std::numeric_limits<std::size_t>::max();
}

}  // namespace

Expected<Done> Encoder::Encode(std::string_view text,
                               const EncodeOptions& options,
                               Encoding& encoding) {
  encoding.Clear();
  enough_ = Enough(options);
  first_.Clear();
  if (Expected<Done> ran = Run(text, first_); !ran.ok()) return ran;
  return Assemble(tokenizer_.parts_.form, first_, nullptr, options, encoding);
}

Expected<Done> Encoder::EncodePair(std::string_view first,
                                   std::string_view second,
                                   const EncodeOptions& options,
                                   Encoding& encoding) {
  encoding.Clear();
  // Which text is the longer one, and so is cut more, only the end can tell.
  enough_ = Enough({});
  first_.Clear();
  second_.Clear();
  if (Expected<Done> ran = Run(first, first_); !ran.ok()) return ran;
  if (Expected<Done> ran = Run(second, second_); !ran.ok()) return ran;
  return Assemble(tokenizer_.parts_.form, first_, &second_, options, encoding);
}

Expected<Done> Encoder::EncodeWords(std::span<const std::string_view> words,
                                    const EncodeOptions& options,
                                    Encoding& encoding) {
  encoding.Clear();
  enough_ = Enough(options);
  first_.Clear();
  if (words.size() > kMaxTextBytes) {
    return Fault{FaultKind::kTooLarge, "too many words", "cut the text"};
  }
  for (std::size_t i = 0; i < words.size() && !Full(first_); ++i) {
    given_word_ = static_cast<std::int32_t>(i);
    Expected<Done> ran = Run(words[i], first_);
    given_word_ = kCountWords;
    if (!ran.ok()) return ran;
  }
  return Assemble(tokenizer_.parts_.form, first_, nullptr, options, encoding);
}

Expected<Done> Encoder::Run(std::string_view text, TokenRun& run) {
  if (text.size() > kMaxTextBytes) {
    return Fault{FaultKind::kTooLarge, "a text of more than 64 MiB",
                 "cut the text into documents"};
  }
  if (!IsAscii(text) && !IsValidUtf8(text)) {
    repaired_ = RepairUtf8(text);
    text = repaired_;
  }
  found_words_ = 0;
  tokenizer_.raw_.Split(text, sections_);
  std::uint32_t base = 0;
  for (const Section& section : sections_) {
    if (Full(run)) break;
    RunSection(text, section, base, run);
    const std::size_t bytes = section.range.end - section.range.begin;
    base += static_cast<std::uint32_t>(
        CountCodePoints(text.substr(section.range.begin, bytes)));
  }
  return Done{};
}

void Encoder::RunSection(std::string_view text, const Section& section,
                         std::uint32_t base, TokenRun& run) {
  const std::string_view raw =
      text.substr(section.range.begin, section.range.end - section.range.begin);
  if (section.id >= 0) {
    const auto count = static_cast<std::uint32_t>(CountCodePoints(raw));
    return AddAdded(raw, section.id, {base, base + count}, run);
  }
  tokenizer_.parts_.normalizer->Run(raw, base, normalized_);
  tokenizer_.normalized_.Split(normalized_.bytes(), inner_sections_);
  for (const Section& inner : inner_sections_) {
    if (inner.id < 0) {
      RunPlain(inner.range, run);
    } else {
      AddAdded(normalized_.at(inner.range), inner.id,
               normalized_.SpanOf(inner.range), run);
    }
  }
}

void Encoder::RunPlain(ByteRange range, TokenRun& run) {
  words_.clear();
  const NormalizedText& text = tokenizer_.parts_.pre_tokenizer->Split(
      normalized_, range, rewritten_, words_);
  for (const ByteRange& place : words_) {
    if (Full(run)) return;
    word_ = NextWord();
    AddPieces(text.at(place));
    for (const Piece& piece : pieces_) {
      const ByteRange at{place.begin + piece.begin, place.begin + piece.end};
      AddToken(piece.id, text.SpanOf(at), BlanksAround(text.at(at)), run);
    }
  }
}

void Encoder::AddPieces(std::string_view word) {
  const SubwordModel& model = *tokenizer_.parts_.model;
  pieces_.clear();
  const bool remember = model.WorthRemembering();
  if (remember && cache_.Recall(word, pieces_)) return;
  model.Tokenize(word, workspace_, pieces_);
  if (remember) cache_.Remember(word, pieces_);
}

void Encoder::AddAdded(std::string_view text, std::int32_t id, Span span,
                       TokenRun& run) {
  word_ = NextWord();
  AddToken(id, span, WhiteSpaceAround(text), run);
}

void Encoder::AddToken(std::int32_t id, Span span, Blanks blanks,
                       TokenRun& run) {
  const Template& form = tokenizer_.parts_.form;
  if (form.trim_spans) {
    span = TrimmedSpan(span, blanks, run.ids.empty(), form.keep_prefix_space);
  }
  run.ids.push_back(id);
  run.words.push_back(word_);
  run.spans.push_back(span);
}

}  // namespace frostline::trainer
