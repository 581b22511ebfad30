// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/learnt_model.h"

#include <algorithm>
#include <utility>

namespace frostline::sampler {
namespace {

constexpr std::size_t kMostLearntFrom = 200;
// Trials of a search are near the best, where effects add up and noise is small
// beside what the targets (targets.h) leave of the others.
constexpr surrogate::Usual kOfSearches{.noise = 0.05,
                                       .length = 2.0,
                                       .length_deviation = 1.0,
                                       .main = 0.7,
                                       .main_deviation = 1.0,
                                       .joint = 0.5};

}  // namespace

std::size_t LastRefresh(std::size_t trials) {
  std::size_t at = std::min<std::size_t>(trials, 1);
  for (std::size_t next = at; next <= trials;) {
    at = next;
    next = at + std::max<std::size_t>(2, at / 8);
  }
  return at;
}

bool LearntModel::Update(TargetedRows sample, TargetedRows all,
                         const std::stop_token& stop) {
  const bool same = sample.rows == learnt_from_.rows &&
                    sample.targets == learnt_from_.targets;
  if (!same) {
    surrogate::Rows rows;
    rows.axes = axes_;
    for (std::size_t row = 0; row < sample.rows.size(); ++row) {
      rows.cells.push_back(sample.rows.At(row));
    }
    rows.values = sample.targets;
    rows.doubt = sample.rows.doubt;
    const bool learnt = posterior_.Learn(
        std::move(rows),
        {.most_rows = kMostLearntFrom, .usual = kOfSearches, .stop = stop});
    if (!learnt) return false;
    learnt_from_ = std::move(sample);
  }
  return posterior_.Condition(std::move(all.rows), all.targets, stop);
}

}  // namespace frostline::sampler
