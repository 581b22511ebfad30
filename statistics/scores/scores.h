// SPDX-License-Identifier: Apache-2.0
//
// File: scores.h
//
// Scores of predictions: classes, tags that mark spans of words, numbers.
#ifndef FROSTLINE_STATISTICS_SCORES_SCORES_H_
#define FROSTLINE_STATISTICS_SCORES_SCORES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::statistics {

// Scores predicted classes as scikit-learn does. An undefined score is 0: the
// F1 of a class that is neither true nor predicted, Matthews' coefficient of a
// single class.
//
// Counts of true, predicted and right classes. It counts by class, not by pair
// of classes, so ten thousand tags take kilobytes.
class Confusion {
 public:
  explicit Confusion(std::size_t classes);

  // Adds pairs, except those whose truth is negative: padding, and the later
  // pieces of words. A negative prediction is none, which is always wrong.
  // Sizes must be equal and every class below `classes`.
  void Add(std::span<const std::int32_t> truth,
           std::span<const std::int32_t> prediction);
  // Adds one pair `times` times. REQUIRES: the truth is a class.
  void AddTimes(std::int32_t truth, std::int32_t prediction,
                std::uint64_t times);
  void Clear();  // counts from nothing again

  std::uint64_t total() const { return total_; }
  // Returns how many of the classes 0 to `classes` - 1 were never the truth.
  std::size_t CountUnseen(std::size_t classes) const;
  double Accuracy() const;
  // Returns the mean F1 of the classes that are true or predicted somewhere.
  double MacroF1() const;
  // Returns the F1 of all classes together: with one label per example it is
  // the accuracy.
  double MicroF1() const;
  // Returns the F1 that a trial reports: that of class 1 if there are two
  // classes, else the macro F1.
  double F1() const { return right_.size() == 2 ? BinaryF1() : MacroF1(); }
  double BinaryF1() const { return ClassF1(1); }
  double ClassF1(std::size_t c) const;
  double ClassPrecision(std::size_t c) const;
  double ClassRecall(std::size_t c) const;
  std::uint64_t CountTrue(std::size_t c) const { return truth_[c]; }
  double Matthews() const;  // multi-class (Gorodkin, 2004)

 private:
  std::vector<std::uint64_t> right_;
  std::vector<std::uint64_t> truth_;
  std::vector<std::uint64_t> predicted_;
  std::uint64_t unpredicted_ = 0;
  std::uint64_t total_ = 0;
};

// Computes the F1 of tags that mark spans of words: B-PER I-PER O. A predicted
// span counts if its type and both ends are right. As in conlleval, an I- that
// continues nothing of its type begins a span (IOB1, IOB2); E-, S- and L-, U-
// (BIOES, BILOU) are understood too.

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

// Scores predicted numbers. Sums run in one order and about the mean, whatever
// the batches. `times` says how often each pair counts; empty means once.

using Times = std::span<const std::uint32_t>;

// Sizes must be equal. There is no result for no pairs. A correlation has none
// either for a single pair, a constant side or a number that is not finite.
std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction,
                                       Times times = {});
std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction,
                              Times times = {});
// Returns Pearson's correlation of the ranks; equal numbers share their mean
// rank.
std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction);

// Computes Spearman's correlation of many resamples with one sort. The two
// spans must outlive it.
class ResampledSpearman {
 public:
  ResampledSpearman(std::span<const double> truth,
                    std::span<const double> prediction);

  std::optional<double> At(Times times) const;

 private:
  std::span<const double> truth_;
  std::span<const double> prediction_;
  bool finite_;
  std::vector<std::size_t> truth_order_;  // by rising number
  std::vector<std::size_t> prediction_order_;
};

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_SCORES_SCORES_H_
