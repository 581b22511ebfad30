// SPDX-License-Identifier: Apache-2.0
//
// File: span_f1.h
//
// Computes F1 of tags that mark spans of words: B-PER I-PER O. A predicted span
// counts when its type and both ends are right. As in conlleval an I- that
// continues nothing of its type begins a span (IOB1, IOB2); E-, S- and L-, U-
// (BIOES, BILOU) are understood too.
#ifndef FROSTLINE_STATISTICS_SCORES_SPAN_F1_H_
#define FROSTLINE_STATISTICS_SCORES_SPAN_F1_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::statistics {

struct TagSpan {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind its last word
  std::string_view type;

  friend auto operator<=>(const TagSpan&, const TagSpan&) = default;
};

// Returns one sentence's, in order; types point into `tags`. Plain "B" has type
// "".
std::vector<TagSpan> SpansOf(std::span<const std::string_view> tags);

// Each label is O, or has a prefix and a hyphen.
bool MarkSpans(const std::vector<std::string>& labels);

// Scores are 0 where nothing is defined.
struct SpanCounts {
  std::uint64_t right = 0;
  std::uint64_t truth = 0;
  std::uint64_t predicted = 0;

  double Precision() const;
  double Recall() const;
  double F1() const;
  void AddTimes(const SpanCounts& counts, std::uint64_t times);
};

// It counts over sentences.
class SpanF1 {
 public:
  // `labels` are class names, and outlive this.
  explicit SpanF1(const std::vector<std::string>& labels) : labels_(labels) {}

  // Adds one sentence, without words whose truth is negative.
  void Add(std::span<const std::int32_t> truth,
           std::span<const std::int32_t> prediction);

  const SpanCounts& counts() const { return counts_; }
  double Precision() const { return counts_.Precision(); }
  double Recall() const { return counts_.Recall(); }
  double F1() const { return counts_.F1(); }

 private:
  const std::vector<std::string>& labels_;
  SpanCounts counts_;
};

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_SCORES_SPAN_F1_H_
