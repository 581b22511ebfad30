// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/normalizer.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

void NormalizedText::Assign(std::string_view text, std::uint32_t base) {
  if (IsAscii(text)) return AssignIdentity(text, base);
  Clear(base);
  bytes_ = text;
  spans_.reserve(text.size());
  std::uint32_t next = base;
  for (const char byte : text) {
    if (!IsContinuation(byte)) ++next;
    spans_.push_back({next - 1, next});
  }
}

void NormalizedText::AppendCopy(const NormalizedText& from, ByteRange range) {
  bytes_.append(from.at(range));
  if (!from.identity_) {
    const auto begin = from.spans_.begin();
    spans_.insert(spans_.end(),
                  begin + static_cast<std::ptrdiff_t>(range.begin),
                  begin + static_cast<std::ptrdiff_t>(range.end));
    return;
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    spans_.push_back(from.SpanAt(i));
  }
}

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

namespace {

// Holds a base character and the accents behind it until the next one comes.
// Spans do not move with accents that change places: they are dealt out in the
// order in which they came, and what two code points became has the first's.
class Composer {
 public:
  explicit Composer(NormalizedText& out) : out_(out) {}

  void Take(char32_t c, Span span) {
    spans_.push_back(span);
    const CodePoints parts = Decompose(c);
    for (std::size_t i = 0; i < parts.count; ++i) {
      Part part = {parts.at[i], CombiningClass(parts.at[i]), i == 0 ? 0 : 1};
      if (part.order == 0)
        Settle(part, i == 0);
      else
        held_.push_back(part);
    }
  }

  void Finish() {
    Compose();
    Flush();
  }

 private:
  struct Part {
    char32_t c;
    std::uint8_t order;
    int more;  // code points that it has more than what it came from
  };

  bool HasBase() const { return !held_.empty() && held_.front().order == 0; }

  // A base character may still join the one before it (Hangul).
  void Settle(const Part& base, bool own_span) {
    Compose();
    if (HasBase() && held_.size() == 1) {
      const char32_t both = frostline::trainer::Compose(held_[0].c, base.c);
      if (both != 0) {
        held_[0].c = both;
        held_[0].more += base.more - 1;
        return;
      }
    }
    std::vector<Span> own;
    if (own_span) {
      own.push_back(spans_.back());
      spans_.pop_back();
    }
    Flush();
    spans_ = own;
    held_ = {base};
  }

  void Compose() {
    const std::size_t first = HasBase() ? 1 : 0;
    std::stable_sort(
        held_.begin() + static_cast<std::ptrdiff_t>(first), held_.end(),
        [](const Part& a, const Part& b) { return a.order < b.order; });
    if (first == 0) return;
    std::size_t kept = 1;
    for (std::size_t i = 1; i < held_.size(); ++i) {
      const bool hidden = kept > 1 && held_[kept - 1].order == held_[i].order;
      const char32_t both =
          hidden ? 0 : frostline::trainer::Compose(held_[0].c, held_[i].c);
      if (both == 0) {
        held_[kept++] = held_[i];
        continue;
      }
      held_[0].c = both;
      held_[0].more += held_[i].more - 1;
    }
    held_.resize(kept);
  }

  void Flush() {
    std::size_t next = 0;
    for (const Part& part : held_) {
      if (part.more <= 0 && next < spans_.size()) {
        out_.Append(part.c, spans_[next]);
        next += 1 + static_cast<std::size_t>(-part.more);
        last_ = spans_[std::min(next, spans_.size()) - 1];
      } else {
        out_.Append(part.c, last_);
      }
    }
    held_.clear();
    spans_.clear();
  }

  NormalizedText& out_;
  std::vector<Part> held_;
  std::vector<Span> spans_;  // of the code points that held_ came from
  Span last_ = {};
};

bool IsLineOrTab(char32_t c) { return c == U'\n' || c == U'\r' || c == U'\t'; }

}  // namespace

void NfcNormalizer::Run(std::string_view raw, std::uint32_t base,
                        NormalizedText& out) const {
  if (!options_.collapse_white_space && IsAscii(raw)) {
    out.AssignIdentity(raw, base);
    return;
  }
  out.Clear(base);
  Composer composer(out);
  std::size_t blanks = 0;  // that wait
  char32_t blank = 0;
  Span span = {};
  const auto pass_blanks = [&] {
    if (blanks == 0) return;
    const bool one = blanks == 1 && !IsLineOrTab(blank);
    composer.Take(one ? blank : U' ', span);
    blanks = 0;
  };
  std::uint32_t next = base;
  for (std::size_t i = 0; i < raw.size(); ++next) {
    const CodePoint point = DecodeAt(raw, i);
    i += point.bytes;
    const Span here = {next, next + 1};
    if (options_.collapse_white_space && Has(point.value, kWhiteSpace)) {
      ++blanks;
      blank = point.value;
      span = here;
      continue;
    }
    pass_blanks();
    composer.Take(point.value, here);
  }
  if (!options_.collapse_white_space) pass_blanks();
  composer.Finish();
}

}  // namespace frostline::trainer
