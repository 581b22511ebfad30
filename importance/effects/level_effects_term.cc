// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects_term.h"

#include <cmath>

#include "importance/measure/numbers.h"
#include "importance/measure/small_matrix.h"

namespace frostline::importance {
namespace {

// A number for each cell of a term, the last axis fastest, times the kernel of
// every axis in turn; with `squared`, the kernel's elements squared.
std::vector<double> TimesKernels(const std::vector<EffectAxis>& axes,
                                 const EffectTerm& term,
                                 std::vector<double> table, bool squared) {
  std::size_t inner = table.size();
  for (const std::size_t axis : term) {
    const std::size_t n = axes[axis].cells();
    inner /= n;
    std::vector<double> next(table.size(), 0.0);
    for (std::size_t outer = 0; outer < table.size(); outer += n * inner) {
      for (std::size_t a = 0; a < n; ++a) {
        double* const to = &next[outer + a * inner];
        for (std::size_t b = 0; b < n; ++b) {
          const double k = axes[axis].kernel[a * n + b];
          const double factor = squared ? k * k : k;
          const double* const from = &table[outer + b * inner];
          for (std::size_t i = 0; i < inner; ++i) to[i] += factor * from[i];
        }
      }
    }
    table = std::move(next);
  }
  return table;
}

// Sum over the trials of the prior variance where they lie.
double KernelTrace(const std::vector<EffectAxis>& axes, const EffectTerm& term,
                   const std::vector<double>& counts) {
  double trace = 0.0;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    double variance = counts[cell];
    std::size_t rest = cell;
    for (std::size_t i = term.size(); i-- > 0;) {
      const std::size_t n = axes[term[i]].cells();
      variance *= axes[term[i]].kernel[(rest % n) * (n + 1)];
      rest /= n;
    }
    trace += variance;
  }
  return trace;
}

std::size_t CellsOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  std::size_t cells = 1;
  for (const std::size_t axis : term) cells *= axes[axis].cells();
  return cells;
}

std::size_t CellOfRow(const std::vector<EffectAxis>& axes,
                      const EffectTerm& term, std::size_t row) {
  std::size_t cell = 0;
  for (const std::size_t axis : term) {
    cell = cell * axes[axis].cells() + axes[axis].cell_of_row[row];
  }
  return cell;
}

}  // namespace

std::size_t WidthOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  std::size_t width = 1;
  for (const std::size_t axis : term) width *= axes[axis].functions;
  return width;
}

std::vector<double> CentredColumns(const std::vector<EffectAxis>& axes,
                                   const EffectTerm& term) {
  const std::size_t rows = axes[term[0]].cell_of_row.size();
  const std::size_t width = WidthOf(axes, term);
  std::vector<double> columns(rows * width, 1.0);
  for (std::size_t column = 0; column < width; ++column) {
    double* const values = &columns[column * rows];
    std::size_t rest = column;
    for (std::size_t i = term.size(); i-- > 0;) {
      const EffectAxis& axis = axes[term[i]];
      const std::size_t f = rest % axis.functions;
      rest /= axis.functions;
      for (std::size_t row = 0; row < rows; ++row) {
        values[row] *= axis.basis[axis.cell_of_row[row] * axis.functions + f];
      }
    }
    double mean = 0.0;
    for (std::size_t row = 0; row < rows; ++row) mean += values[row];
    mean /= static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) values[row] -= mean;
  }
  return columns;
}

std::vector<double> PriorOf(const std::vector<EffectAxis>& axes,
                            const EffectTerm& term) {
  std::vector<double> prior = {1.0};
  for (const std::size_t axis : term) {
    std::vector<double> finer;
    for (const double outer : prior) {
      for (const double own : axes[axis].prior) finer.push_back(outer * own);
    }
    prior = std::move(finer);
  }
  return prior;
}

TermDesign DesignOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term) {
  const std::size_t rows = axes[term[0]].cell_of_row.size();
  std::vector<double> counts(CellsOf(axes, term), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    counts[CellOfRow(axes, term, row)] += 1.0;
  }
  TermDesign design;
  design.trace = KernelTrace(axes, term, counts);
  const double squares =
      Dot(counts.data(), TimesKernels(axes, term, counts, true).data(),
          counts.size());
  const double freedom =
      squares - design.trace * design.trace / static_cast<double>(rows);
  if (freedom > 1e-9 * squares && design.trace > 0.0) design.freedom = freedom;
  return design;
}

TermEvidence WeighTerm(const std::vector<EffectAxis>& axes,
                       const EffectTerm& term, const TermDesign& design,
                       const std::vector<double>& residuals, double variance) {
  TermEvidence evidence;
  if (!(design.freedom > 0.0) || !(variance > 0.0)) return evidence;
  std::vector<double> sums(CellsOf(axes, term), 0.0);
  for (std::size_t row = 0; row < residuals.size(); ++row) {
    sums[CellOfRow(axes, term, row)] += residuals[row];
  }
  const double quadratic = Dot(
      sums.data(), TimesKernels(axes, term, sums, false).data(), sums.size());
  evidence.variance = (quadratic - variance * design.trace) / design.freedom;
  evidence.deviation = variance * std::sqrt(2.0 / design.freedom);
  // A chi-squared with the quadratic form's own mean and variance.
  const double scale = design.freedom / design.trace;
  evidence.log_p =
      LogChiSquaredTail(quadratic / variance / scale, design.trace / scale);
  return evidence;
}

}  // namespace frostline::importance
