// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "statistics/law.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

// Ranges of more values are treated as continuous.
constexpr double kMaxCounted = 1024;
constexpr double kAbsentCode = -2.0;
constexpr double kFrozenCode = -1.0;
constexpr int kCurveProbes = 16;

double FirstValue(const Domain& domain) {
  if (const auto* d = std::get_if<FloatRange>(&domain)) return d->lo;
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    return static_cast<double>(d->lo);
  }
  return 0.0;
}

double StepOf(const Domain& domain) {
  if (const auto* d = std::get_if<FloatRange>(&domain)) return d->step;
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    return static_cast<double>(d->step);
  }
  return std::holds_alternative<LogUniform>(domain) ? 0.0 : 1.0;
}

// Where a value lies between the ends of its range, 0 … 1.
double ShareOfRange(double value, double lo, double hi, bool log) {
  if (value <= lo) return 0.0;
  if (value >= hi) return 1.0;
  // The ratio of two finite numbers need not be finite, nor their difference.
  if (!log) return (value / 2.0 - lo / 2.0) / (hi / 2.0 - lo / 2.0);
  const double whole =
      std::isfinite(hi / lo) ? std::log(hi / lo) : std::log(hi) - std::log(lo);
  const double part = std::isfinite(value / lo)
                          ? std::log(value / lo)
                          : std::log(value) - std::log(lo);
  return std::clamp(part / whole, 0.0, 1.0);
}

// Integers are cells one step wide, in the logarithm where the range is.
std::vector<double> CountedMasses(const Domain& domain, std::size_t count) {
  std::vector<double> masses(count, 1.0 / static_cast<double>(count));
  const auto* const d = std::get_if<IntRange>(&domain);
  if (d == nullptr || !d->log) return masses;
  const double lo = static_cast<double>(d->lo) - 0.5;
  const double whole = std::log1p(static_cast<double>(count) / lo);
  for (std::size_t k = 0; k < count; ++k) {
    masses[k] = std::log1p(1.0 / (lo + static_cast<double>(k))) / whole;
  }
  return masses;
}

}  // namespace

MeasuredAxis::MeasuredAxis(const Domain& domain, double active)
    : domain_(domain), absent_(1.0 - active), live_(active) {
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze) {
    frozen_ = active * kFrozenMass;
    live_ = active - frozen_;
  }
  ordered_ = !std::holds_alternative<Categorical>(domain);
  finite_ = CountValues(domain) <= kMaxCounted;
  if (!finite_) return;
  masses_ =
      CountedMasses(domain, static_cast<std::size_t>(CountValues(domain)));
  if (!ordered_) {
    for (double& mass : masses_) mass *= live_;
    masses_.push_back(absent_);
    return;
  }
  mass_before_.push_back(0.0);
  for (const double mass : masses_) {
    mass_before_.push_back(mass_before_.back() + mass);
  }
}

double MeasuredAxis::PlaceOf(double value) const {
  if (finite_) {
    return std::nearbyint((value - FirstValue(domain_)) / StepOf(domain_));
  }
  if (const auto* d = std::get_if<LogUniform>(&domain_)) {
    return ShareOfRange(value, d->lo, d->hi, true);
  }
  if (const auto* d = std::get_if<IntRange>(&domain_)) {
    return ShareOfRange(value, static_cast<double>(d->lo),
                        static_cast<double>(d->hi), d->log);
  }
  const auto& d = std::get<FloatRange>(domain_);
  return ShareOfRange(value, d.lo, d.hi, d.log);
}

double MeasuredAxis::CodeOf(double value) const {
  if (!ordered_) {
    return IsAbsent(value) ? static_cast<double>(masses_.size() - 1) : value;
  }
  if (IsAbsent(value)) return kAbsentCode;
  const bool rate = std::holds_alternative<LogUniform>(domain_);
  return rate && value == 0.0 ? kFrozenCode : PlaceOf(value);
}

double MeasuredAxis::MassUpTo(double code) const {
  double mass = 0.0;
  if (code >= kAbsentCode) mass += absent_;
  if (code >= kFrozenCode) mass += frozen_;
  if (code < 0.0) return mass;
  if (!finite_) return mass + live_ * std::min(code, 1.0);
  const double values =
      std::min(std::floor(code) + 1.0, static_cast<double>(masses_.size()));
  return mass + live_ * mass_before_[static_cast<std::size_t>(values)];
}

std::vector<double> MeasuredAxis::Probes() const {
  std::vector<double> probes;
  if (frozen_ > 0.0) probes.push_back(absent_ + frozen_ / 2.0);
  const double begin = absent_ + frozen_;
  const std::size_t count = finite_ ? masses_.size() : kCurveProbes;
  for (std::size_t k = 0; k < count; ++k) {
    const double middle =
        finite_ ? mass_before_[k] + masses_[k] / 2.0
                : (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    probes.push_back(begin + live_ * middle);
  }
  return probes;
}

std::vector<double> MeasuredAxis::CountableCodes() const {
  std::vector<double> codes;
  if (frozen_ > 0.0) codes.push_back(kFrozenCode);
  const std::size_t count =
      !finite_ ? 0 : masses_.size() - (ordered_ ? 0u : 1u);
  for (std::size_t k = 0; k < count; ++k) {
    codes.push_back(static_cast<double>(k));
  }
  return codes;
}

double MeasuredAxis::MassWhere(const Condition& condition) const {
  const auto met = [&condition](double value) {
    if (condition.values.empty()) {
      return value >= condition.min && value <= condition.max;
    }
    return std::find(condition.values.begin(), condition.values.end(), value) !=
           condition.values.end();
  };
  double mass = frozen_ > 0.0 && met(0.0) ? frozen_ : 0.0;
  if (finite_) {
    const std::vector<double> values = ListValues(domain_);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (met(values[k])) mass += masses_[k] * (ordered_ ? live_ : 1.0);
    }
  } else if (condition.values.empty()) {
    // A listed value has no share of a continuous range.
    const double above = PlaceOf(condition.max) - PlaceOf(condition.min);
    mass += live_ * std::max(0.0, above);
  }
  return mass;
}

std::vector<MeasuredAxis> MeasureSpace(const Space& space) {
  std::vector<MeasuredAxis> axes;
  for (const Parameter& parameter : space.parameters()) {
    double active = 1.0;
    if (parameter.condition.has_value()) {
      const auto parent = static_cast<std::size_t>(parameter.condition->parent);
      active = axes[parent].MassWhere(*parameter.condition);
    }
    axes.emplace_back(parameter.domain, active);
  }
  return axes;
}

namespace {

BinnedAxis MakeBins(const std::vector<double>& codes, bool is_ordered) {
  BinnedAxis axis;
  axis.is_ordered = is_ordered;
  std::vector<double> distinct = codes;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::size_t count =
      is_ordered ? std::min(distinct.size(), kMaxBins) : distinct.size();
  for (std::size_t bin = 0; bin < count; ++bin) {
    axis.lowest.push_back(distinct[bin * distinct.size() / count]);
    axis.highest.push_back(distinct[(bin + 1) * distinct.size() / count - 1]);
  }
  for (const double code : codes) {
    const auto found =
        std::lower_bound(axis.highest.begin(), axis.highest.end(), code);
    axis.bin_of_row.push_back(
        static_cast<std::uint16_t>(found - axis.highest.begin()));
  }
  return axis;
}

}  // namespace

Dataset MakeDataset(std::vector<MeasuredAxis> axes,
                    const std::vector<const Point*>& points,
                    const std::vector<double>& losses) {
  Dataset data;
  data.axes = std::move(axes);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    std::vector<double> codes;
    codes.reserve(points.size());
    for (const Point* const point : points) {
      codes.push_back(data.axes[i].CodeOf((*point)[i]));
    }
    data.bins.push_back(MakeBins(codes, data.axes[i].is_ordered()));
    data.codes.push_back(std::move(codes));
  }
  const auto [lowest, highest] =
      std::minmax_element(losses.begin(), losses.end());
  // Halves, because the range of two finite numbers need not be finite.
  const double middle = *lowest / 2.0 + *highest / 2.0;
  const double radius = *highest / 2.0 - *lowest / 2.0;
  for (const double loss : losses) {
    data.targets.push_back((loss / 2.0 - middle / 2.0) / radius * 2.0);
  }
  return data;
}

namespace {

struct Parts {
  std::vector<double> mass;
  std::vector<double> seen;
};

constexpr std::size_t kLiveParts = 8;

std::size_t PartOf(const MeasuredAxis& axis, double code) {
  if (!axis.is_ordered()) return static_cast<std::size_t>(code);
  if (code < 0.0) return code < -1.0 ? 0 : 1;
  const double fixed = axis.MassUpTo(-1.0);
  const double place = (axis.MassUpTo(code) - fixed) / (1.0 - fixed);
  // A value ends at its place: the end of a part still belongs to it.
  const double part = std::ceil(place * kLiveParts - 1e-9) - 1.0;
  return 2 + static_cast<std::size_t>(
                 std::clamp(part, 0.0, static_cast<double>(kLiveParts - 1)));
}

Parts CountParts(const MeasuredAxis& axis, const std::vector<double>& codes) {
  Parts parts;
  if (!axis.is_ordered()) {
    parts.mass = axis.choice_masses();
  } else {
    const double absent = axis.MassUpTo(-2.0);
    const double fixed = axis.MassUpTo(-1.0);
    parts.mass = {absent, fixed - absent};
    const double share = (1.0 - fixed) / static_cast<double>(kLiveParts);
    parts.mass.resize(2 + kLiveParts, axis.is_finite() ? 0.0 : share);
    for (const double code : axis.CountableCodes()) {
      if (code < 0.0 || !axis.is_finite()) continue;
      parts.mass[PartOf(axis, code)] +=
          axis.MassUpTo(code) - axis.MassUpTo(code - 0.5);
    }
  }
  parts.seen.resize(parts.mass.size(), 0.0);
  for (const double code : codes) parts.seen[PartOf(axis, code)] += 1.0;
  return parts;
}

}  // namespace

double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes) {
  const Parts parts = CountParts(axis, codes);
  const auto trials = static_cast<double>(codes.size());
  double statistic = 0.0, freedom = -1.0;
  for (std::size_t i = 0; i < parts.mass.size(); ++i) {
    if (parts.mass[i] < 1e-9) continue;
    const double expected = parts.mass[i] * trials;
    const double apart = parts.seen[i] - expected;
    statistic += apart * apart / expected;
    freedom += 1.0;
  }
  return freedom > 0.0 ? statistics::LogChiSquaredTail(statistic, freedom)
                       : 0.0;
}

}  // namespace frostline::importance
