// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "importance/cells.h"

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

}  // namespace frostline::importance
