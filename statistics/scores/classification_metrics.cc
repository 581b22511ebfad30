// SPDX-License-Identifier: Apache-2.0
#include "statistics/scores/classification_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace frostline::statistics {
namespace {

double Ratio(double part, double whole) {
  return whole == 0.0 ? 0.0 : part / whole;
}

}  // namespace

Confusion::Confusion(std::size_t classes)
    // Class 1 is asked for by name, even of a set that has one class.
    : right_(std::max<std::size_t>(classes, 2)),
      truth_(right_.size()),
      predicted_(right_.size()) {}

void Confusion::Add(std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> prediction) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] >= 0) AddTimes(truth[i], prediction[i], 1);
  }
}

void Confusion::AddTimes(std::int32_t truth, std::int32_t prediction,
                         std::uint64_t times) {
  const auto wanted = static_cast<std::size_t>(truth);
  total_ += times;
  truth_[wanted] += times;
  if (prediction < 0) {
    unpredicted_ += times;
    return;
  }
  const auto got = static_cast<std::size_t>(prediction);
  predicted_[got] += times;
  if (wanted == got) right_[wanted] += times;
}

void Confusion::Clear() {
  total_ = 0;
  unpredicted_ = 0;
  std::fill(right_.begin(), right_.end(), 0);
  std::fill(truth_.begin(), truth_.end(), 0);
  std::fill(predicted_.begin(), predicted_.end(), 0);
}

std::size_t Confusion::CountUnseen(std::size_t classes) const {
  const auto end = truth_.begin() + static_cast<std::ptrdiff_t>(classes);
  return static_cast<std::size_t>(
      std::count(truth_.begin(), end, std::uint64_t{0}));
}

double Confusion::Accuracy() const {
  const auto right =
      std::accumulate(right_.begin(), right_.end(), std::uint64_t{0});
  return Ratio(static_cast<double>(right), static_cast<double>(total_));
}

double Confusion::MicroF1() const { return Accuracy(); }

double Confusion::ClassF1(std::size_t c) const {
  return Ratio(2.0 * static_cast<double>(right_[c]),
               static_cast<double>(truth_[c] + predicted_[c]));
}

double Confusion::ClassPrecision(std::size_t c) const {
  return Ratio(static_cast<double>(right_[c]),
               static_cast<double>(predicted_[c]));
}

double Confusion::ClassRecall(std::size_t c) const {
  return Ratio(static_cast<double>(right_[c]), static_cast<double>(truth_[c]));
}

double Confusion::MacroF1() const {
  double sum = 0.0;
  double classes = 0.0;
  for (std::size_t c = 0; c < right_.size(); ++c) {
    if (truth_[c] + predicted_[c] == 0) continue;
    sum += ClassF1(c);
    classes += 1.0;
  }
  return Ratio(sum, classes);
}

double Confusion::Matthews() const {
  // In long double: the products pass 2^53 from a hundred million words on.
  const auto total = static_cast<long double>(total_);
  long double right = 0;
  long double both = 0;
  long double truth_squares = 0;
  // What has no prediction is of a class of its own.
  const auto none = static_cast<long double>(unpredicted_);
  long double predicted_squares = none * none;
  for (std::size_t c = 0; c < right_.size(); ++c) {
    const auto t = static_cast<long double>(truth_[c]);
    const auto p = static_cast<long double>(predicted_[c]);
    right += static_cast<long double>(right_[c]);
    both += t * p;
    truth_squares += t * t;
    predicted_squares += p * p;
  }
  const long double squares = total * total;
  const long double below =
      std::sqrt((squares - predicted_squares) * (squares - truth_squares));
  return Ratio(static_cast<double>(right * total - both),
               static_cast<double>(below));
}

}  // namespace frostline::statistics
