// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/encoder.h"

#include <limits>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"

namespace frostline::trainer {
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
