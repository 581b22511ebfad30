// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

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

Span Trimmed(Span span, Blanks blanks, bool first, bool keep_prefix_space) {
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
    span = Trimmed(span, blanks, run.ids.empty(), form.keep_prefix_space);
  }
  run.ids.push_back(id);
  run.words.push_back(word_);
  run.spans.push_back(span);
}

}  // namespace frostline::trainer
