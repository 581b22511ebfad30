// SPDX-License-Identifier: Apache-2.0
//
// File: classification_metrics.h
//
// Scores predicted classes as scikit-learn does. Undefined is 0: the F1 of a
// class that was neither there nor predicted, Matthews' coefficient of one
// class.
#ifndef FROSTLINE_STATISTICS_SCORES_CLASSIFICATION_METRICS_H_
#define FROSTLINE_STATISTICS_SCORES_CLASSIFICATION_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace frostline::statistics {

// It counts by class, not by pair of classes: ten thousand tags take kilobytes.
class Confusion {
 public:
  explicit Confusion(std::size_t classes);

  // Leaves out pairs whose truth is negative: padding, and words' later pieces.
  // A negative prediction is none, which is always wrong. Sizes must be equal
  // and every class below `classes`.
  void Add(std::span<const std::int32_t> truth,
           std::span<const std::int32_t> prediction);
  // Adds one pair so often; the truth is a class.
  void AddTimes(std::int32_t truth, std::int32_t prediction,
                std::uint64_t times);
  void Clear();  // counts from nothing again

  std::uint64_t total() const { return total_; }
  // Of the classes 0 to `classes` - 1, how many no truth was.
  std::size_t CountUnseen(std::size_t classes) const;
  double Accuracy() const;
  // Takes the mean over the classes that are there or were predicted.
  double MacroF1() const;
  // Adds up all classes: with one label an example the accuracy.
  double MicroF1() const;
  // The F1 that a trial reports: of class 1 where there are two, else macro.
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
