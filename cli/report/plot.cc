// SPDX-License-Identifier: Apache-2.0
#include "cli/report/plot.h"

#include <algorithm>
#include <cmath>

#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr double kGridLines = 4.0;

double RoundStep(double span) {
  const double rough = span / kGridLines;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10.0 * power;
}

// Parameters as "22,571,921", not 2.257e+07.
std::string EndText(double value) {
  const bool is_count = std::abs(value) >= 1e4 && value == std::round(value);
  return is_count ? FormatCount(std::llround(value)) : FormatNumber(value);
}

}  // namespace

void PlotAxis::Show(double value) {
  if (!std::isfinite(value)) return;
  lo_ = std::min(lo_, value);
  hi_ = std::max(hi_, value);
}

double PlotAxis::ShareOf(double value) const {
  return hi_ > lo_ ? (value - lo_) / (hi_ - lo_) : 0.5;
}

double PlotAxis::RoundEnds() {
  if (!(hi_ > lo_)) return 0.0;
  const double step = RoundStep(hi_ - lo_);
  constexpr double kRounding = 1e-9;  // an end that is a multiple stays
  lo_ = step * std::floor(lo_ / step + kRounding);
  hi_ = step * std::ceil(hi_ / step - kRounding);
  return step;
}

Plot::Plot(Svg& svg, double x, double y, double width, double height,
           const PlotAxis& across, const PlotAxis& up)
    : svg_(svg),
      x_(x),
      y_(y),
      width_(width),
      height_(height),
      across_(across),
      up_(up),
      step_up_(up_.RoundEnds()) {}

double Plot::X(double value) const {
  return x_ + width_ * across_.ShareOf(value);
}

double Plot::Y(double value) const {
  return y_ + height_ * (1.0 - up_.ShareOf(value));
}

void Plot::DrawFrame(const std::string& across_name,
                     const std::string& up_name) {
  const long lines =
      step_up_ > 0.0 ? std::lround((up_.hi() - up_.lo()) / step_up_) : 0;
  for (long i = 0; i <= lines; ++i) {
    const double value = up_.lo() + step_up_ * static_cast<double>(i);
    svg_.Line(x_, Y(value), x_ + width_, Y(value), "grid");
    svg_.Text(x_ - 6, Y(value) + 4, FormatNumber(value), "small end");
  }
  svg_.Text(x_, y_ - 10, up_name, "name");
  svg_.Text(x_, y_ + height_ + 18, EndText(across_.lo()), "small");
  if (across_.hi() > across_.lo()) {
    svg_.Text(x_ + width_, y_ + height_ + 18, EndText(across_.hi()),
              "small end");
  }
  svg_.Text(x_ + width_ / 2, y_ + height_ + 18, across_name, "small middle");
}

}  // namespace frostline::cli
