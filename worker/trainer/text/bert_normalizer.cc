// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/bert_normalizer.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {
namespace {

// The steps for any code point. Accents wait until the next base character,
// because canonical order may move them, and their spans do not move along:
// spans are dealt out again in the order in which they came.
class Pipeline {
 public:
  Pipeline(const BertNormalizerOptions& options, NormalizedText& out)
      : options_(options), out_(out) {}

  void Take(char32_t c, Span span) {
    if (options_.clean_text) {
      if (Has(c, kDropped)) return;
      if (Has(c, kWhiteSpace)) c = U' ';
    }
    if (options_.handle_chinese_chars && IsCjk(c)) {
      Decomposed(U' ', span);
      Decomposed(c, span);
      Decomposed(U' ', span);
      return;
    }
    Decomposed(c, span);
  }

  void Finish() {
    if (waiting_.empty()) return;
    std::stable_sort(
        waiting_.begin(), waiting_.end(),
        [](const Mark& a, const Mark& b) { return a.order < b.order; });
    std::size_t next = 0;
    for (const Mark& mark : waiting_) {
      if (mark.leads) last_ = spans_[next++];
      if (!Has(mark.c, kMark)) Lowered(mark.c, last_);
    }
    waiting_.clear();
    spans_.clear();
  }

 private:
  struct Mark {
    char32_t c;
    std::uint8_t order;
    bool leads;  // the first of what its code point became
  };

  void Decomposed(char32_t c, Span span) {
    if (!options_.strip_accents) return Lowered(c, span);
    const CodePoints parts = Decompose(c);
    for (std::size_t i = 0; i < parts.count; ++i) {
      const std::uint8_t order = CombiningClass(parts.at[i]);
      if (order != 0) {
        waiting_.push_back({parts.at[i], order, i == 0});
        if (i == 0) spans_.push_back(span);
        continue;
      }
      Finish();
      last_ = span;
      if (!Has(parts.at[i], kMark)) Lowered(parts.at[i], span);
    }
  }

  void Lowered(char32_t c, Span span) {
    if (!options_.lowercase) return out_.Append(c, span);
    const CodePoints lower = ToLower(c);
    for (std::size_t i = 0; i < lower.count; ++i)
      out_.Append(lower.at[i], span);
  }

  const BertNormalizerOptions& options_;
  NormalizedText& out_;
  std::vector<Mark> waiting_;
  std::vector<Span> spans_;  // of those in waiting_ that lead
  Span last_;
};

}  // namespace

BertNormalizer::BertNormalizer(const BertNormalizerOptions& options)
    : options_(options) {
  for (std::size_t i = 0; i < ascii_.size(); ++i) {
    auto c = static_cast<char32_t>(i);
    if (options_.clean_text && Has(c, kWhiteSpace) && !Has(c, kDropped)) {
      c = U' ';
    }
    if (options_.lowercase) c = ToLower(c).at[0];
    ascii_[i] = static_cast<char>(c);
    if (options_.clean_text && Has(c, kDropped)) ascii_[i] = 0;
  }
}

bool BertNormalizer::RunAscii(std::string_view raw, std::uint32_t base,
                              NormalizedText& out) const {
  out.AssignIdentity(raw, base);
  std::string& bytes = out.mutable_bytes();
  bool dropped = false;
  for (char& byte : bytes) {
    byte = ascii_[static_cast<unsigned char>(byte)];
    dropped |= byte == 0;
  }
  return !dropped;
}

void BertNormalizer::Run(std::string_view raw, std::uint32_t base,
                         NormalizedText& out) const {
  if (IsAscii(raw) && RunAscii(raw, base, out)) return;
  out.Clear(base);
  Pipeline pipeline(options_, out);
  std::uint32_t next = base;
  for (std::size_t i = 0; i < raw.size(); ++next) {
    const CodePoint point = DecodeAt(raw, i);
    pipeline.Take(point.value, {next, next + 1});
    i += point.bytes;
  }
  pipeline.Finish();
}

}  // namespace frostline::trainer
