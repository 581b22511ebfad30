// SPDX-License-Identifier: Apache-2.0
#include "importance/cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

// The cell and the mass of every code in [0, values) that was counted.
void CutCounted(const MeasuredAxis& axis, const std::vector<double>& codes,
                double values, EffectAxis& cut) {
  const double cells = std::min(values, static_cast<double>(kMaxEffectCells));
  const std::size_t before = cut.masses.size();
  cut.masses.resize(before + static_cast<std::size_t>(cells), 0.0);
  const auto cell_of = [&](double code) {
    return before + static_cast<std::size_t>(std::clamp(
                        std::floor(code * cells / values), 0.0, cells - 1.0));
  };
  for (double code = 0.0; code < values; ++code) {
    cut.masses[cell_of(code)] +=
        axis.MassUpTo(code) - axis.MassUpTo(code == 0.0 ? -1.0 : code - 1.0);
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0.0) continue;
    cut.cell_of_row[i] = static_cast<std::uint16_t>(cell_of(codes[i]));
  }
}

void CutRange(const MeasuredAxis& axis, const std::vector<double>& codes,
              EffectAxis& cut) {
  const std::size_t before = cut.masses.size();
  const double count = static_cast<double>(kEffectStretches);
  const double below = axis.MassUpTo(-1.0);
  for (std::size_t k = 0; k < kEffectStretches; ++k) {
    cut.masses.push_back((1.0 - below) / count);
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0.0) continue;
    const double stretch = std::min(std::floor(codes[i] * count), count - 1.0);
    cut.cell_of_row[i] =
        static_cast<std::uint16_t>(before + static_cast<std::size_t>(stretch));
  }
}

void CutOrdered(const MeasuredAxis& axis, const std::vector<double>& codes,
                EffectAxis& cut) {
  const double absent = axis.MassUpTo(-2.0);
  const double frozen = axis.MassUpTo(-1.0) - absent;
  if (absent > 0.0) cut.masses.push_back(absent);
  cut.first_ordered = cut.masses.size();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == -1.0) {
      cut.cell_of_row[i] = static_cast<std::uint16_t>(cut.first_ordered);
    }
  }
  if (frozen > 0.0) cut.masses.push_back(frozen);
  if (!axis.is_finite()) return CutRange(axis, codes, cut);
  const std::vector<double> values = axis.CountableCodes();
  CutCounted(axis, codes, values.back() + 1.0, cut);
}

// The choices tried most have cells of their own, the others share one.
void CutChoices(const MeasuredAxis& axis, const std::vector<double>& codes,
                EffectAxis& cut) {
  const std::vector<double>& masses = axis.choice_masses();
  std::vector<std::size_t> tried(masses.size(), 0);
  for (const double code : codes) ++tried[static_cast<std::size_t>(code)];
  std::vector<std::size_t> order(masses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return tried[a] > tried[b]; });
  const std::size_t cells = std::min(masses.size(), kMaxEffectCells);
  std::vector<std::size_t> cell_of(masses.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    cell_of[order[k]] = std::min(k, cells - 1);
  }
  cut.is_ordered = false;
  cut.masses.assign(cells, 0.0);
  for (std::size_t k = 0; k < masses.size(); ++k) {
    cut.masses[cell_of[k]] += masses[k];
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    cut.cell_of_row[i] =
        static_cast<std::uint16_t>(cell_of[static_cast<std::size_t>(codes[i])]);
  }
}

}  // namespace

EffectAxis MakeEffectAxis(const MeasuredAxis& axis,
                          const std::vector<double>& codes) {
  EffectAxis cut;
  cut.cell_of_row.assign(codes.size(), 0);
  if (axis.is_ordered()) {
    CutOrdered(axis, codes, cut);
  } else {
    CutChoices(axis, codes, cut);
  }
  MakeEffectBasis(cut, !axis.is_finite());
  return cut;
}

namespace {

// Neighbouring stretches of a range are mostly alike, over about this part of
// it. Levels are taken for unrelated.
constexpr double kSmoothShare = 0.8;
constexpr double kSmoothLength = 0.25;
// Graded levels are alike over this part of their list. The first of them,
// which may be frozen, also moves on its own by as much as the next constant
// says, and every other by a little.
constexpr double kGradedLength = 0.5;
constexpr double kFreeFirst = 0.5;
constexpr double kUngraded = 0.02;
constexpr std::size_t kLeastGraded = 4;
constexpr double kNothing = 1e-9;

// Made orthogonal to the constant and weighted by the roots of the masses.
std::vector<double> Centred(std::vector<double> prior, const EffectAxis& axis) {
  const std::size_t n = axis.cells();
  for (int side = 0; side < 2; ++side) {
    for (std::size_t a = 0; a < n; ++a) {
      double mean = 0.0;
      for (std::size_t b = 0; b < n; ++b) {
        mean += axis.masses[b] * prior[side == 0 ? a * n + b : b * n + a];
      }
      for (std::size_t b = 0; b < n; ++b) {
        prior[side == 0 ? a * n + b : b * n + a] -= mean;
      }
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      prior[a * n + b] *= std::sqrt(axis.masses[a] * axis.masses[b]);
    }
  }
  return prior;
}

// What cells have in common before anything is known.
std::vector<double> PriorOverCells(const EffectAxis& axis, bool smooth) {
  const std::size_t n = axis.cells();
  std::vector<double> prior(n * n, 0.0);
  const std::size_t range = smooth ? n - kEffectStretches : n;
  for (std::size_t a = 0; a < n; ++a) {
    prior[a * n + a] = 1.0;
    for (std::size_t b = range; b < n && a >= range; ++b) {
      const double gap =
          (static_cast<double>(a) - static_cast<double>(b)) /
          (kSmoothLength * static_cast<double>(kEffectStretches));
      prior[a * n + b] = kSmoothShare * std::exp(-0.5 * gap * gap) +
                         (a == b ? 1.0 - kSmoothShare : 0.0);
    }
  }
  return Centred(std::move(prior), axis);
}

// Levels that count alike, in an order.
bool CanBeGraded(const EffectAxis& axis) {
  return axis.is_ordered && axis.cells() >= kLeastGraded &&
         std::all_of(axis.masses.begin(), axis.masses.end(), [&](double mass) {
           return std::abs(mass - axis.masses[0]) < kNothing;
         });
}

// Returns the functions of a graded prior. If all levels count alike, any
// orthonormal functions will do; these let the model weigh graded levels
// against unrelated ones.
EigenPairs GradedFunctions(const EffectAxis& axis) {
  const std::size_t n = axis.cells();
  std::vector<double> prior(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      const double gap = (static_cast<double>(a) - static_cast<double>(b)) /
                         (kGradedLength * static_cast<double>(n - 1));
      prior[a * n + b] =
          std::exp(-0.5 * gap * gap) + (a == b ? kUngraded : 0.0);
    }
  }
  prior[0] += kFreeFirst;
  return SymmetricEigen(Centred(std::move(prior), axis), n);
}

}  // namespace

void MakeEffectBasis(EffectAxis& axis, bool smooth) {
  const std::size_t n = axis.cells();
  const bool graded = !smooth && CanBeGraded(axis);
  EigenPairs eigen = graded ? GradedFunctions(axis)
                            : SymmetricEigen(PriorOverCells(axis, smooth), n);
  double sum = 0.0;
  for (const double value : eigen.values) sum += std::max(value, 0.0);
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < n; ++k) {
    // A hundredth of what the first functions have is not worth a column.
    const double least = smooth ? 0.005 : kNothing;
    if (eigen.values[k] > least * sum && sum > kNothing) kept.push_back(k);
  }
  double whole = 0.0;
  for (const std::size_t k : kept) whole += eigen.values[k];
  const double count = static_cast<double>(kept.size());
  for (const std::size_t k : kept) {
    if (!graded) break;
    axis.graded.push_back(eigen.values[k] / whole * count);
    eigen.values[k] = whole / count;
  }
  axis.functions = kept.size();
  axis.basis.assign(n * kept.size(), 0.0);
  axis.kernel.assign(n * n, 0.0);
  for (std::size_t f = 0; f < kept.size(); ++f) {
    axis.prior.push_back(eigen.values[kept[f]] / whole);
    for (std::size_t a = 0; a < n; ++a) {
      if (axis.masses[a] <= kNothing) continue;
      axis.basis[a * kept.size() + f] =
          eigen.vectors[kept[f] * n + a] *
          std::sqrt(axis.prior[f] / axis.masses[a]);
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      axis.kernel[a * n + b] =
          Dot(axis.basis.data() + a * kept.size(),
              axis.basis.data() + b * kept.size(), kept.size());
    }
  }
}

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

namespace {

// Longer lists of values, and ranges, are so many steps long.
constexpr double kMostSteps = 6.0;

bool HasFrozenCell(const Domain& domain) {
  if (const auto* const levels = std::get_if<Levels>(&domain)) {
    return levels->rates.front() == 0.0;
  }
  const auto* const rate = std::get_if<LogUniform>(&domain);
  return rate != nullptr && rate->freeze;
}

}  // namespace

surrogate::Axis MakeSurrogateAxis(const Domain& domain,
                                  const EffectAxis& axis) {
  surrogate::Axis made;
  made.masses = axis.masses;
  made.kinds.assign(axis.cells(), surrogate::CellKind::kAlone);
  made.places.assign(axis.cells(), 0.0);
  if (!axis.is_ordered) return made;
  std::size_t first = axis.first_ordered;
  if (HasFrozenCell(domain) && first < axis.cells()) {
    made.kinds[first++] = surrogate::CellKind::kFrozen;
  }
  const double ordered = static_cast<double>(axis.cells() - first);
  const bool counted = std::holds_alternative<Levels>(domain);
  const double step =
      counted ? 1.0 : std::min(1.0, kMostSteps / std::max(ordered - 1.0, 1.0));
  for (std::size_t cell = first; cell < axis.cells(); ++cell) {
    made.kinds[cell] = surrogate::CellKind::kOrdered;
    made.places[cell] = step * static_cast<double>(cell - first);
  }
  return made;
}

void AddSurrogateAxis(const Domain& domain, const EffectAxis& axis,
                      surrogate::Rows& rows) {
  rows.axes.push_back(MakeSurrogateAxis(domain, axis));
  for (std::size_t row = 0; row < rows.cells.size(); ++row) {
    rows.cells[row].push_back(static_cast<std::uint8_t>(axis.cell_of_row[row]));
  }
}

namespace {

// The part of the values' variance between cells, its chance share taken off.
double VarianceBetween(const EffectAxis& axis,
                       const std::vector<double>& values) {
  std::vector<double> sums(axis.cells(), 0.0);
  std::vector<double> counts(axis.cells(), 0.0);
  for (std::size_t row = 0; row < values.size(); ++row) {
    sums[axis.cell_of_row[row]] += values[row];
    counts[axis.cell_of_row[row]] += 1.0;
  }
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double whole = 0.0;
  for (const double value : values) whole += (value - mean) * (value - mean);
  double between = 0.0;
  double groups = 0.0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (counts[c] == 0.0) continue;
    const double off = sums[c] / counts[c] - mean;
    between += counts[c] * off * off;
    groups += 1.0;
  }
  if (groups < 2.0 || groups >= n) return 0.0;
  return between / (groups - 1.0) / std::max(whole / (n - 1.0), 1e-300);
}

std::vector<std::size_t> MostVarying(const std::vector<double>& between) {
  std::vector<std::size_t> order(between.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= kMaxSurrogateAxes) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&between](std::size_t a, std::size_t b) {
                     return between[a] > between[b];
                   });
  order.resize(kMaxSurrogateAxes);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

surrogate::Cells StudyRows::CellsOf(
    const std::vector<std::size_t>& choice) const {
  surrogate::Cells cells;
  cells.reserve(parameters.size());
  for (const std::size_t i : parameters) {
    cells.push_back(
        static_cast<std::uint8_t>(choices[i].values[choice[i]].cell));
  }
  return cells;
}

StudyRows MakeStudyRows(const Space& space,
                        const std::vector<const Point*>& points,
                        std::vector<double> values, std::vector<double> doubt) {
  const std::vector<MeasuredAxis> measured = MeasureSpace(space);
  StudyRows study;
  std::vector<EffectAxis> effects;
  std::vector<double> between;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    std::vector<double> codes;
    codes.reserve(points.size());
    for (const Point* const point : points) {
      codes.push_back(measured[i].CodeOf((*point)[i]));
    }
    CutAxis cut =
        CutIntoValues(space.parameters()[i].domain, measured[i], codes);
    between.push_back(VarianceBetween(cut.effect, values));
    effects.push_back(std::move(cut.effect));
    study.choices.push_back(
        {std::move(cut.values), std::move(cut.value_of_row)});
  }
  study.parameters = MostVarying(between);
  study.rows.cells.resize(points.size());
  for (std::size_t i = 0, axis = 0; i < effects.size(); ++i) {
    if (axis == study.parameters.size() || study.parameters[axis] != i) {
      study.left_out.push_back(i);
      continue;
    }
    ++axis;
    AddSurrogateAxis(space.parameters()[i].domain, effects[i], study.rows);
  }
  study.rows.values = std::move(values);
  study.rows.doubt = std::move(doubt);
  return study;
}

}  // namespace frostline::importance
