// SPDX-License-Identifier: Apache-2.0
#include "importance/cells/axis_values.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "study/point.h"

namespace frostline::importance {
namespace {

// Codes at which cells of an uncounted range are looked for.
constexpr std::size_t kRangeProbes = 240;

double Between(double lo, double hi, bool log, double place) {
  return log ? std::exp(std::log(lo) + place * (std::log(hi) - std::log(lo)))
             : lo * (1.0 - place) + hi * place;
}

// The value nearest to a place in a range that is not counted.
double ValueAt(const Domain& domain, double place) {
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return Between(d->lo, d->hi, true, place);
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    const double lo = static_cast<double>(d->lo);
    const double step = static_cast<double>(d->step);
    const double value = Between(lo, static_cast<double>(d->hi), d->log, place);
    return lo + step * std::floor((value - lo) / step + 0.5);
  }
  const auto& d = std::get<FloatRange>(domain);
  const double value = Between(d.lo, d.hi, d.log, place);
  if (d.step <= 0.0) return value;
  return d.lo + d.step * std::floor((value - d.lo) / d.step + 0.5);
}

bool IsAbsentCode(const MeasuredAxis& axis, double code) {
  return axis.is_ordered()
             ? code == -2.0
             : code == static_cast<double>(axis.choice_masses().size() - 1);
}

// One code for each place where there may be a value of its own.
std::vector<double> CodesOf(const MeasuredAxis& axis) {
  std::vector<double> codes;
  if (!axis.is_ordered()) {
    codes = axis.CountableCodes();
    if (axis.choice_masses().back() > 0.0) {
      codes.insert(codes.begin(), static_cast<double>(codes.size()));
    }
    return codes;
  }
  if (axis.MassUpTo(-2.0) > 0.0) codes.push_back(-2.0);
  const std::vector<double> counted = axis.CountableCodes();
  codes.insert(codes.end(), counted.begin(), counted.end());
  if (axis.is_finite()) return codes;
  for (std::size_t k = 0; k < kRangeProbes; ++k) {
    codes.push_back((static_cast<double>(k) + 0.5) /
                    static_cast<double>(kRangeProbes));
  }
  return codes;
}

// The code in the middle of the codes k … last, by their share of the space.
double MiddleOf(const MeasuredAxis& axis, const std::vector<double>& known,
                std::size_t k, std::size_t last) {
  if (!axis.is_finite()) return (known[k] + known[last]) / 2.0;
  if (!axis.is_ordered() || k == last) return known[k];
  const double end = axis.MassUpTo(known[last]);
  const double begin = axis.MassUpTo(known[k] - 1.0);
  while (k < last && axis.MassUpTo(known[k]) < (begin + end) / 2.0) ++k;
  return known[k];
}

}  // namespace

CutAxis CutIntoValues(const Domain& domain, const MeasuredAxis& axis,
                      const std::vector<double>& codes) {
  // Every code once more, so that all of them are given their cells; choices
  // stay in the order of how often they were tried.
  const std::vector<double> known = CodesOf(axis);
  std::vector<double> all = codes;
  all.insert(all.end(), known.begin(), known.end());
  CutAxis cut;
  cut.effect = MakeEffectAxis(axis, all);
  const auto rows = static_cast<std::ptrdiff_t>(codes.size());
  std::vector<std::uint16_t>& cells = cut.effect.cell_of_row;
  const std::vector<std::uint16_t> cell_of(cells.begin() + rows, cells.end());
  cells.resize(codes.size());

  // Levels and choices stand for themselves, other values for their cells.
  const bool one_by_one =
      !axis.is_ordered() || std::holds_alternative<Levels>(domain);
  const std::vector<double> listed =
      axis.is_finite() ? ListValues(domain) : std::vector<double>{};
  std::vector<std::size_t> value_of_cell(cut.effect.cells(), 0);
  for (std::size_t k = 0; k < known.size(); ++k) {
    AxisValue one;
    one.cell = cell_of[k];
    value_of_cell[one.cell] = cut.values.size();
    std::size_t last = k;
    while (!one_by_one && last + 1 < known.size() &&
           cell_of[last + 1] == cell_of[k]) {
      ++last;
    }
    if (IsAbsentCode(axis, known[k])) {
      one.value = kAbsent;
    } else if (!axis.is_ordered() || known[k] >= 0.0) {
      const double middle = MiddleOf(axis, known, k, last);
      one.value = axis.is_finite() ? listed[static_cast<std::size_t>(middle)]
                                   : ValueAt(domain, middle);
    }
    cut.values.push_back(one);
    k = last;
  }
  for (std::size_t row = 0; row < codes.size(); ++row) {
    std::size_t at = value_of_cell[cells[row]];
    if (one_by_one) {
      at = static_cast<std::size_t>(
          std::find(known.begin(), known.end(), codes[row]) - known.begin());
    }
    cut.value_of_row.push_back(at);
    ++cut.values[at].trials;
  }
  return cut;
}

}  // namespace frostline::importance
