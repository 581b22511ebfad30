// SPDX-License-Identifier: Apache-2.0
//
// File: classification_metrics.h
//
// Scores predicted classes as scikit-learn does. An undefined score is 0: the
// F1 of a class that is neither true nor predicted, Matthews' coefficient of a
// single class.
#ifndef FROSTLINE_STATISTICS_SCORES_CLASSIFICATION_METRICS_H_
#define FROSTLINE_STATISTICS_SCORES_CLASSIFICATION_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace frostline::statistics {

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

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_SCORES_CLASSIFICATION_METRICS_H_
