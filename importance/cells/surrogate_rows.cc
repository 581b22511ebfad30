// SPDX-License-Identifier: Apache-2.0
#include "importance/cells/surrogate_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "importance/cells/surrogate_axis.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {
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
