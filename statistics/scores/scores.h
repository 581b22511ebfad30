// SPDX-License-Identifier: Apache-2.0
//
// File: scores.h
//
// Computes the F1 of tags that mark spans of words: B-PER I-PER O. A predicted
// span counts if its type and both ends are right. As in conlleval, an I- that
// continues nothing of its type begins a span (IOB1, IOB2); E-, S- and L-, U-
// (BIOES, BILOU) are understood too.
#ifndef FROSTLINE_STATISTICS_SCORES_SCORES_H_
#define FROSTLINE_STATISTICS_SCORES_SCORES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::statistics {

// A span of words, with its type.
struct TagSpan {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind its last word
  std::string_view type;

  friend auto operator<=>(const TagSpan&, const TagSpan&) = default;
};

// Returns the spans of one sentence, in order. Types point into `tags`. A plain
// "B" has type "".
std::vector<TagSpan> SpansOf(std::span<const std::string_view> tags);

// Says whether labels mark spans: each is O, or has a prefix and a hyphen.
bool MarkSpans(const std::vector<std::string>& labels);

// Counts of spans and the scores they give. An undefined score is 0.
struct SpanCounts {
  std::uint64_t right = 0;
  std::uint64_t truth = 0;
  std::uint64_t predicted = 0;

  double Precision() const;
  double Recall() const;
  double F1() const;
  void AddTimes(const SpanCounts& counts, std::uint64_t times);
};

// The F1 of spans over all sentences that are added.
class SpanF1 {
 public:
  // `labels` are the class names. REQUIRES: they outlive this.
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

#endif  // FROSTLINE_STATISTICS_SCORES_SCORES_H_
