// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/block_noise.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "statistics/law/distributions.h"

namespace frostline::statistics {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> ValuesOf(const BySeed& runs) {
  std::vector<double> values;
  for (const auto& [seed, run] : runs) values.push_back(run->value);
  return values;
}

// A row for each seed that all have run with.
std::vector<std::vector<double>> BlocksOf(const std::vector<BySeed>& all) {
  std::vector<std::vector<double>> blocks;
  if (all.empty()) return blocks;
  for (const auto& [seed, run] : all[0]) {
    std::vector<double> block;
    for (const BySeed& runs : all) {
      const auto found = runs.find(seed);
      if (found != runs.end()) block.push_back(found->second->value);
    }
    if (block.size() == all.size()) blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

double Noise::deviation() const {
  return known() ? std::sqrt(squares / freedom) : kNan;
}

double Noise::Reach(double level, double runs) const {
  if (!known() || runs < 1.0) return kNan;
  return StudentQuantile(0.5 + level / 2.0, freedom) * deviation() /
         std::sqrt(runs);
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double SquaresAround(const std::vector<double>& values, double mean) {
  return std::accumulate(
      values.begin(), values.end(), 0.0,
      [mean](double sum, double x) { return sum + (x - mean) * (x - mean); });
}

BySeed WithResult(const Contender& contender) {
  BySeed runs;
  for (const Run& run : contender.runs) {
    if (!std::isnan(run.value)) runs[run.seed] = &run;
  }
  return runs;
}

std::vector<std::pair<const Run*, const Run*>> PairedRuns(
    const Contender& first, const Contender& second) {
  const BySeed one = WithResult(first), other = WithResult(second);
  std::vector<std::pair<const Run*, const Run*>> pairs;
  if (one.size() == 1 && other.size() == 1) {
    return {{one.begin()->second, other.begin()->second}};
  }
  for (const auto& [seed, run] : one) {
    const auto found = other.find(seed);
    if (found != other.end()) pairs.emplace_back(run, found->second);
  }
  return pairs;
}

Noise OverSeeds(const std::vector<BySeed>& contenders) {
  Noise noise;
  for (const BySeed& runs : contenders) {
    if (runs.size() < 2) continue;
    const std::vector<double> values = ValuesOf(runs);
    noise.squares += SquaresAround(values, MeanOf(values));
    noise.freedom += static_cast<double>(values.size()) - 1.0;
  }
  return noise;
}

Noise WithinBlocks(const std::vector<BySeed>& contenders) {
  std::vector<BySeed> all;
  for (const BySeed& runs : contenders) {
    if (!runs.empty()) all.push_back(runs);
  }
  const std::vector<std::vector<double>> blocks = BlocksOf(all);
  if (all.size() < 2 || blocks.size() < 2) return {};
  std::vector<double> of_contender(all.size(), 0.0);
  for (const std::vector<double>& block : blocks) {
    for (std::size_t c = 0; c < block.size(); ++c) {
      of_contender[c] += block[c] / static_cast<double>(blocks.size());
    }
  }
  const double all_mean = MeanOf(of_contender);
  Noise noise;
  for (const std::vector<double>& block : blocks) {
    const double of_block = MeanOf(block);
    for (std::size_t c = 0; c < block.size(); ++c) {
      const double rest = block[c] - of_contender[c] - of_block + all_mean;
      noise.squares += rest * rest;
    }
  }
  noise.freedom = static_cast<double>((all.size() - 1) * (blocks.size() - 1));
  return noise;
}

}  // namespace frostline::statistics
