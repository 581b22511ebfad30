// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/level_kernel.h"

#include <cmath>
#include <utility>

namespace frostline {
namespace {

double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace

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
    AxisTable table = MakeAxisTable(axes[d], length, frozen_tie);
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
