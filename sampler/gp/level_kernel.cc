// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/level_kernel.h"

#include <cmath>

namespace frostline {
namespace {

// Unordered choices are as far from each other as half the line.
constexpr double kBetweenChoices = kAxisLength / 2.0;

double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double DistanceOf(const LevelAxis& axis, std::size_t a, std::size_t b) {
  if (a == b) return 0.0;
  if (!axis.ordered) return kBetweenChoices;
  return std::abs(axis.places[a] - axis.places[b]);
}

AxisTable MakeTable(const LevelAxis& axis, double length, double frozen_tie) {
  AxisTable table;
  table.cells = static_cast<std::size_t>(axis.cells());
  for (std::size_t a = 0; a < table.cells; ++a) {
    for (std::size_t b = 0; b < table.cells; ++b) {
      const bool across = axis.has_kind && axis.ordered && a != b &&
                          (a + 1 == table.cells || b + 1 == table.cells);
      const double tie = across ? frozen_tie : 1.0;
      const double u = std::sqrt(5.0) * DistanceOf(axis, a, b) / length;
      const double decay = tie * std::exp(-u);
      const double base = decay * (1.0 + u + u * u / 3.0);
      table.base.push_back(base);
      table.by_length.push_back(decay * u * u * (1.0 + u) / 3.0);
      table.by_frozen_tie.push_back(across ? base * (1.0 - frozen_tie) : 0.0);
    }
  }
  return table;
}

}  // namespace

Cells KernelRows::At(std::size_t row) const {
  Cells at;
  for (const auto& column : cells) at.push_back(column[row]);
  return at;
}

void KernelRows::Append(const Cells& at, std::uint8_t of_study,
                        double with_doubt) {
  cells.resize(at.size());
  for (std::size_t d = 0; d < at.size(); ++d) cells[d].push_back(at[d]);
  study.push_back(of_study);
  doubt.push_back(with_doubt);
}

LevelKernel::LevelKernel(const std::vector<LevelAxis>& axes,
                         const KernelParameters& parameters)
    : noise_(std::exp(parameters[kNoise])),
      joint_(std::exp(parameters[kJoint])),
      variance_(joint_),
      study_tie_(Logistic(parameters[kStudyTie])) {
  const double frozen_tie = Logistic(parameters[kFrozenTie]);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const double relevance = parameters[kSharedParameters + d];
    const double length = std::exp(
        parameters[kLength] + parameters[kSharedParameters + axes.size() + d]);
    AxisTable table = MakeTable(axes[d], length, frozen_tie);
    table.additive = std::exp(parameters[kAdditive] + relevance) /
                     static_cast<double>(axes.size());
    table.strength = -std::expm1(-std::exp(parameters[kStrength] + relevance) /
                                 static_cast<double>(axes.size()));
    for (const double base : table.base) {
      table.factor.push_back(1.0 - table.strength * (1.0 - base));
    }
    variance_ += table.additive;
    tables_.push_back(std::move(table));
  }
}

KernelParts LevelKernel::PartsWith(const Cells& at, const KernelRows& rows,
                                   std::size_t count) const {
  KernelParts parts{std::vector<double>(count, 0.0),
                    std::vector<double>(count, 1.0)};
  for (std::size_t d = 0; d < tables_.size(); ++d) {
    const AxisTable& table = tables_[d];
    const double* const base = &table.base[at[d] * table.cells];
    const double* const factor = &table.factor[at[d] * table.cells];
    const std::uint8_t* const cells = rows.cells[d].data();
    for (std::size_t i = 0; i < count; ++i) {
      parts.sums[i] += table.additive * base[cells[i]];
      parts.products[i] *= factor[cells[i]];
    }
  }
  return parts;
}

std::vector<double> LevelKernel::CovarianceWith(const Cells& at,
                                                std::uint8_t study,
                                                const KernelRows& rows,
                                                std::size_t count) const {
  KernelParts parts = PartsWith(at, rows, count);
  for (std::size_t i = 0; i < count; ++i) {
    parts.sums[i] = TieOf(study, rows.study[i]) *
                    (parts.sums[i] + joint_ * parts.products[i]);
  }
  return std::move(parts.sums);
}

}  // namespace frostline
