// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace frostline::sampler {
namespace {

NumericRange Make(double lo, double hi, double step, bool log) {
  NumericRange range{lo, hi, step, log};
  range.box_lo = range.ToBox(lo - step / 2.0);
  range.box_hi = range.ToBox(hi + step / 2.0);
  return range;
}

}  // namespace

double NumericRange::ToBox(double value) const {
  return log ? std::log(value) : value;
}

double NumericRange::FromBox(double place) const {
  double value = log ? std::exp(place) : place;
  if (step > 0.0) value = lo + std::nearbyint((value - lo) / step) * step;
  return std::clamp(value, lo, hi);
}

std::optional<NumericRange> NumericRangeOf(const Domain& domain) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    return Make(0.0, static_cast<double>(d->rates.size()) - 1.0, 1.0, false);
  }
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return Make(d->lo, d->hi, 0.0, true);
  }
  if (const auto* d = std::get_if<FloatRange>(&domain)) {
    if (d->step == 0.0) return Make(d->lo, d->hi, 0.0, d->log);
    // lo + k * step may round to just above hi, which is not in the domain.
    const double last = d->lo + (CountValues(domain) - 1.0) * d->step;
    return Make(d->lo, std::min(last, d->hi), d->step, false);
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    const std::int64_t last = d->hi - (d->hi - d->lo) % d->step;
    return Make(static_cast<double>(d->lo), static_cast<double>(last),
                static_cast<double>(d->step), d->log);
  }
  return std::nullopt;
}

namespace {

class RandomSampler final : public Sampler {
 public:
  RandomSampler(Space space, double frozen_share)
      : space_(std::move(space)), frozen_share_(frozen_share) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& /*history*/,
                                     std::int64_t /*number*/,
                                     Rng& rng) override {
    return DrawPoint(space_, frozen_share_, rng);
  }

  Space space_;
  double frozen_share_;
};

}  // namespace

double DrawValue(const Domain& domain, double frozen_share, Rng& rng) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return static_cast<double>(rng.Below(d->choices.size()));
  }
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze && rng.Uniform() < frozen_share) {
    return 0.0;
  }
  const NumericRange range = *NumericRangeOf(domain);
  return range.FromBox(range.box_lo +
                       rng.Uniform() * (range.box_hi - range.box_lo));
}

Point DrawPoint(const Space& space, double frozen_share, Rng& rng) {
  Point point(static_cast<std::size_t>(space.size()), kAbsent);
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(i, point)) continue;
    const auto index = static_cast<std::size_t>(i);
    point[index] =
        DrawValue(space.parameters()[index].domain, frozen_share, rng);
  }
  return point;
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeRandomSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler random",
                      "sampler.options", input.options);
  const double frozen_share =
      reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<RandomSampler>(input.space, frozen_share);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogHalf = -std::numbers::ln2;

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// ln(e^x - e^y) and ln(e^x + e^y). REQUIRES: x >= y.
double LogDifference(double x, double y) {
  const double gap = y - x;
  if (std::isnan(gap)) return -kInfinity;  // both are -infinity
  return x + (gap > kLogHalf ? std::log(-std::expm1(gap))
                             : std::log1p(-std::exp(gap)));
}
double LogSum(double x, double y) {
  if (x < y) std::swap(x, y);
  return x == -kInfinity ? x : x + std::log1p(std::exp(y - x));
}

// Returns ln Phi(x) by Mills' ratio as a continued fraction (Laplace). Far out
// it converges in a few terms and never underflows. REQUIRES: x <= -20.
double LogCdfFarLeft(double x) {
  double tail = 0.0;
  for (int k = 30; k >= 1; --k) tail = k / (-x + tail);
  return -x * x / 2.0 - kLogSqrtTwoPi - std::log(-x + tail);
}

// Says whether the density is a parabola around the middle m of the interval,
// so its mass is φ(m) w (1 + (m² - 1) w²/24 + …). The next term is of order (m
// w)^4.
bool IsNarrow(double a, double b) {
  const double width = b - a;
  return width * std::max(1.0, std::abs(a / 2.0 + b / 2.0)) < 1e-3;
}
double LogMassOfNarrow(double a, double b) {
  const double width = b - a;
  const double middle = a + width / 2.0;
  return -middle * middle / 2.0 - kLogSqrtTwoPi + std::log(width) +
         std::log1p((middle * middle - 1.0) * width * width / 24.0);
}

}  // namespace

double LogNormalCdf(double x) {
  if (x > 0.0) return std::log1p(-NormalCdf(-x));
  if (x > -20.0) return std::log(NormalCdf(x));
  return LogCdfFarLeft(x);
}

double InverseLogNormalCdf(double y) {
  if (y >= 0.0) return kInfinity;
  if (y == -kInfinity) return -kInfinity;
  // Close to 1 the upper tail is the well-conditioned one.
  if (y > -1e-2) return -InverseLogNormalCdf(std::log(-std::expm1(y)));
  double x =
      y < -5.0 ? -std::sqrt(-2.0 * (y + kLogSqrtTwoPi))
               : -std::sqrt(3.0) / std::numbers::pi * std::log(std::expm1(-y));
  // Newton's method on ln Φ, which is concave: it converges from anywhere.
  for (int i = 0; i < 100; ++i) {
    const double value = LogNormalCdf(x);
    const double slope = std::exp(-x * x / 2.0 - kLogSqrtTwoPi - value);
    const double move = (value - y) / slope;
    x -= move;
    // Errors square at each step, so what is left is below one rounding.
    if (std::abs(move) <= 1e-9 * std::abs(x) || std::abs(move) < 1e-300) break;
  }
  return x;
}

double LogNormalMass(double a, double b) {
  if (IsNarrow(a, b)) return LogMassOfNarrow(a, b);
  if (b <= 0.0) return LogDifference(LogNormalCdf(b), LogNormalCdf(a));
  if (a > 0.0) return LogDifference(LogNormalCdf(-a), LogNormalCdf(-b));
  return std::log1p(-NormalCdf(a) - NormalCdf(-b));
}

double TruncatedNormalLogPdf(double x, double a, double b) {
  if (!(x >= a && x <= b)) return -kInfinity;
  if (a == b) return kInfinity;
  return -x * x / 2.0 - kLogSqrtTwoPi - LogNormalMass(a, b);
}

double TruncatedNormalPpf(double q, double a, double b) {
  if (q <= 0.0 || a == b) return a;
  if (q >= 1.0) return b;
  if (IsNarrow(a, b)) {
    // The density's slope over the interval is the only term that shows.
    const double slant = (a + b) / 2.0 * (b - a) / 2.0;
    return std::clamp(a + (b - a) * q * (1.0 - slant * (1.0 - q)), a, b);
  }
  const double log_mass = LogNormalMass(a, b);
  const double x =
      a < 0.0
          ? InverseLogNormalCdf(LogSum(LogNormalCdf(a), std::log(q) + log_mass))
          : -InverseLogNormalCdf(
                LogSum(LogNormalCdf(-b), std::log1p(-q) + log_mass));
  return std::clamp(x, a, b);
}

}  // namespace frostline::sampler
