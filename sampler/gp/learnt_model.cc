// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/learnt_model.h"

#include <algorithm>
#include <utility>

namespace frostline {
namespace {

constexpr std::size_t kMostLearntFrom = 256;
constexpr int kFitSteps = 25;

}  // namespace

std::size_t LastRefresh(std::size_t trials) {
  std::size_t at = std::min<std::size_t>(trials, 1);
  for (std::size_t next = at; next <= trials;) {
    at = next;
    next = at + std::max<std::size_t>(2, at / 8);
  }
  return at;
}

std::vector<std::size_t> LearningSample(std::size_t trials) {
  const std::size_t size = std::min(trials, kMostLearntFrom);
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < size; ++i) sample.push_back(i * trials / size);
  return sample;
}

void LearntModel::Update(TargetedRows sample, const KernelPrior& prior,
                         TargetedRows all) {
  const bool same = !parameters_.empty() && sample.rows == learnt_from_.rows &&
                    sample.targets == learnt_from_.targets;
  if (!same) {
    parameters_ =
        FitKernel(axes_, sample.rows, sample.targets, prior, kFitSteps);
    learnt_from_ = std::move(sample);
  }
  posterior_.Update(parameters_, std::move(all.rows), all.targets);
}

}  // namespace frostline
