// SPDX-License-Identifier: Apache-2.0
#include "surrogate/link.h"

#include <algorithm>
#include <cmath>

namespace frostline::surrogate {
namespace {

// Of the range, or of the median way from its one end.
constexpr double kMargin = 0.005;
constexpr double kLeastWay = 1e-300;

double MedianWay(const std::vector<double>& values, double end) {
  std::vector<double> ways;
  ways.reserve(values.size());
  for (const double value : values) ways.push_back(std::abs(value - end));
  if (ways.empty()) return 1.0;
  const auto middle =
      ways.begin() + static_cast<std::ptrdiff_t>(ways.size() / 2);
  std::nth_element(ways.begin(), middle, ways.end());
  return *middle > 0.0 ? *middle : 1.0;
}

}  // namespace

Link::Link(double lo, double hi, const std::vector<double>& values)
    : lo_(lo), hi_(hi) {
  if (std::isfinite(lo) && std::isfinite(hi)) {
    form_ = Form::kLogit;
    margin_ = kMargin;
  } else if (std::isfinite(lo)) {
    form_ = Form::kAbove;
    margin_ = std::max(kMargin * MedianWay(values, lo), kLeastWay);
  } else if (std::isfinite(hi)) {
    form_ = Form::kBelow;
    margin_ = std::max(kMargin * MedianWay(values, hi), kLeastWay);
  }
}

double Link::Forward(double value) const {
  switch (form_) {
    case Form::kNone:
      return value;
    case Form::kAbove:
      return std::log(std::max(value - lo_, 0.0) + margin_);
    case Form::kBelow:
      return -std::log(std::max(hi_ - value, 0.0) + margin_);
    case Form::kLogit:
      break;
  }
  const double share =
      std::clamp((value / 2.0 - lo_ / 2.0) / (hi_ / 2.0 - lo_ / 2.0), 0.0, 1.0);
  const double kept = margin_ + (1.0 - 2.0 * margin_) * share;
  return std::log(kept) - std::log1p(-kept);
}

double Link::Back(double number) const {
  switch (form_) {
    case Form::kNone:
      return number;
    case Form::kAbove:
      return lo_ + std::max(std::exp(number) - margin_, 0.0);
    case Form::kBelow:
      return hi_ - std::max(std::exp(-number) - margin_, 0.0);
    case Form::kLogit:
      break;
  }
  const double kept = 1.0 / (1.0 + std::exp(-number));
  const double share =
      std::clamp((kept - margin_) / (1.0 - 2.0 * margin_), 0.0, 1.0);
  return std::clamp(lo_ * (1.0 - share) + hi_ * share, lo_, hi_);
}

}  // namespace frostline::surrogate
