// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/nfc_normalizer.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {
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
