// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_cells.h"

#include <cmath>
#include <utility>

#include "sampler/optuna/compat_normal.h"

namespace frostline::sampler {
CompatCells::CompatCells(const NumericRange& range,
                         const std::vector<NumericKernel>& kernels)
    : range_(range) {
  std::map<std::pair<double, double>, std::uint32_t> known;
  shape_of_.reserve(kernels.size());
  for (const NumericKernel& kernel : kernels) {
    const auto next = static_cast<std::uint32_t>(shapes_.size());
    const std::uint32_t shape =
        known.try_emplace({kernel.mu, kernel.sigma}, next).first->second;
    shape_of_.push_back(shape);
    if (shape != next) continue;
    shapes_.push_back(kernel);
    log_box_.push_back(
        CompatLogMass((range_.box_lo - kernel.mu) / kernel.sigma,
                      (range_.box_hi - kernel.mu) / kernel.sigma));
  }
}

CompatLine::CompatLine(const NumericRange& range,
                       const std::vector<NumericKernel>& kernels)
    : range_(range) {
  kernels_.reserve(kernels.size());
  for (const NumericKernel& kernel : kernels) {
    const double a = (range_.box_lo - kernel.mu) / kernel.sigma;
    const double b = (range_.box_hi - kernel.mu) / kernel.sigma;
    kernels_.push_back({kernel, CompatLogMass(a, b), std::log(kernel.sigma)});
  }
}

void CompatLine::AddLogDensity(double value, std::span<double> sums) const {
  const double place = range_.ToBox(value);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Kernel& one = kernels_[k];
    sums[k] += CompatLogPdf((place - one.shape.mu) / one.shape.sigma) -
               one.log_box - one.log_sigma;
  }
}

const std::vector<double>& CompatCells::LogMasses(double value) {
  std::vector<double>& masses = log_masses_[value];
  if (!masses.empty()) return masses;
  const double left = range_.ToBox(value - range_.step / 2.0);
  const double right = range_.ToBox(value + range_.step / 2.0);
  masses.reserve(shapes_.size());
  for (const NumericKernel& shape : shapes_) {
    masses.push_back(CompatLogMass((left - shape.mu) / shape.sigma,
                                   (right - shape.mu) / shape.sigma));
  }
  return masses;
}

void CompatCells::AddLogDensity(double value, std::span<double> sums) {
  const std::vector<double>& masses = LogMasses(value);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] = sums[k] + masses[shape_of_[k]] - log_box_[shape_of_[k]];
  }
}

}  // namespace frostline::sampler
