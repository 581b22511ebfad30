// SPDX-License-Identifier: Apache-2.0
//
// File: span_f1.h
//
// Computes F1 of tags that mark spans of words: B-PER I-PER O. A predicted span
// counts when its type and both ends are right. As in conlleval an I- that
// continues nothing of its type begins a span (IOB1, IOB2); E-, S- and L-, U-
// (BIOES, BILOU) are understood too.
#ifndef FROSTLINE_WORKER_TRAINER_TASKS_SPAN_F1_H_
#define FROSTLINE_WORKER_TRAINER_TASKS_SPAN_F1_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::trainer {

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

// It counts over sentences; scores are 0 where nothing is defined.
class SpanF1 {
 public:
  // `labels` are class names, and outlive this.
  explicit SpanF1(const std::vector<std::string>& labels) : labels_(labels) {}

  // Adds one sentence, without words whose truth is negative.
  void Add(std::span<const std::int32_t> truth,
           std::span<const std::int32_t> prediction);

  double Precision() const;
  double Recall() const;
  double F1() const;

 private:
  const std::vector<std::string>& labels_;
  std::uint64_t right_ = 0;
  std::uint64_t truth_ = 0;
  std::uint64_t predicted_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TASKS_SPAN_F1_H_
