// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/verification.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "importance/measure/statistics.h"

namespace frostline::importance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kZ80 = 1.2816;
constexpr double kZ95 = 1.96;
constexpr double kLeastFreedom = 2.0;  // for a quantile to mean something

// Values by seed; of repeated seeds the last one.
using BySeed = std::map<std::uint64_t, const RivalRun*>;

BySeed WithResult(const RivalRuns& rival) {
  BySeed runs;
  for (const RivalRun& run : rival.runs) {
    if (!std::isnan(run.value)) runs[run.seed] = &run;
  }
  return runs;
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

// A variance and its degrees of freedom.
struct Noise {
  double squares = 0.0;
  double freedom = 0.0;

  bool known() const { return freedom >= kLeastFreedom; }
  double deviation() const {
    return known() ? std::sqrt(squares / freedom) : kNan;
  }
  // How far the mean of `runs` may be off, at normal quantile z.
  double Reach(double z, double runs) const {
    if (!known() || runs < 1.0) return kNan;
    return StudentQuantile(z, freedom) * deviation() / std::sqrt(runs);
  }
};

Interval Around(double value, const Noise& noise, double runs) {
  const double near = noise.Reach(kZ80, runs), far = noise.Reach(kZ95, runs);
  return {value, value - near, value + near, value - far, value + far};
}

std::vector<double> ValuesOf(const BySeed& runs) {
  std::vector<double> values;
  for (const auto& [seed, run] : runs) values.push_back(run->value);
  return values;
}

// Of runs about their own rival's mean: what one more seed would show.
Noise OverSeeds(const std::vector<BySeed>& rivals) {
  Noise noise;
  for (const BySeed& runs : rivals) {
    if (runs.size() < 2) continue;
    const std::vector<double> values = ValuesOf(runs);
    noise.squares += SquaresAround(values, MeanOf(values));
    noise.freedom += static_cast<double>(values.size()) - 1.0;
  }
  return noise;
}

// Of a randomised block design without repeats (Fisher, 1935): what is left of
// rivals' and seeds' means, over the seeds that all have run with.
Noise WithinBlocks(const std::vector<BySeed>& all) {
  std::vector<BySeed> rivals;
  for (const BySeed& runs : all) {
    if (!runs.empty()) rivals.push_back(runs);
  }
  std::vector<std::vector<double>> blocks;
  for (const auto& [seed, run] : rivals.empty() ? BySeed() : rivals[0]) {
    std::vector<double> block;
    for (const BySeed& runs : rivals) {
      const auto found = runs.find(seed);
      if (found != runs.end()) block.push_back(found->second->value);
    }
    if (block.size() == rivals.size()) blocks.push_back(std::move(block));
  }
  if (rivals.size() < 2 || blocks.size() < 2) return {};
  std::vector<double> of_rival(rivals.size(), 0.0);
  double all_mean = 0.0;
  for (const std::vector<double>& block : blocks) {
    for (std::size_t r = 0; r < block.size(); ++r) {
      of_rival[r] += block[r] / static_cast<double>(blocks.size());
    }
    all_mean += MeanOf(block) / static_cast<double>(blocks.size());
  }
  Noise noise;
  for (const std::vector<double>& block : blocks) {
    const double of_block = MeanOf(block);
    for (std::size_t r = 0; r < block.size(); ++r) {
      const double rest = block[r] - of_rival[r] - of_block + all_mean;
      noise.squares += rest * rest;
    }
  }
  noise.freedom =
      static_cast<double>((rivals.size() - 1) * (blocks.size() - 1));
  return noise;
}

// What the rows of the evaluation set leave open of the difference: the
// deviation of their differences, each averaged over the seeds. NaN unless all
// runs have said what they came to on each.
double RowNoise(const BySeed& rival, const BySeed& plan) {
  std::vector<double> rows;
  double seeds = 0.0;
  for (const auto& [seed, run] : rival) {
    const auto other = plan.find(seed);
    if (other == plan.end()) continue;
    const std::vector<float>& a = run->rows;
    const std::vector<float>& b = other->second->rows;
    if (rows.empty()) rows.resize(a.size());
    if (a.empty() || a.size() != b.size() || a.size() != rows.size()) {
      return kNan;
    }
    for (std::size_t i = 0; i < a.size(); ++i) rows[i] += a[i] - b[i];
    seeds += 1.0;
  }
  if (rows.size() < 2) return kNan;
  for (double& row : rows) row /= seeds;
  const auto n = static_cast<double>(rows.size());
  return kZ95 * std::sqrt(SquaresAround(rows, MeanOf(rows)) / (n - 1.0) / n);
}

JudgedRival Compare(const BySeed& rival, const BySeed& plan,
                    const Noise& noise) {
  JudgedRival judged;
  std::vector<double> differences;
  for (const auto& [seed, run] : rival) {
    const auto other = plan.find(seed);
    if (other == plan.end()) continue;
    differences.push_back(run->value - other->second->value);
  }
  // Of a difference of two runs the variance is twice that of one.
  const Noise of_difference = {2.0 * noise.squares, noise.freedom};
  const auto pairs = static_cast<double>(differences.size());
  const double mean = differences.empty() ? kNan : MeanOf(differences);
  judged.difference = Around(mean, of_difference, pairs);
  judged.seed_noise = of_difference.Reach(kZ95, pairs);
  judged.row_noise = RowNoise(rival, plan);
  judged.exceeds_seeds = std::abs(mean) > judged.seed_noise;
  judged.exceeds_rows = std::abs(mean) > judged.row_noise;
  return judged;
}

}  // namespace

Verification JudgeRuns(const std::vector<RivalRuns>& rivals) {
  std::vector<BySeed> runs;
  for (const RivalRuns& rival : rivals) runs.push_back(WithResult(rival));
  const Noise over_seeds = OverSeeds(runs);
  const Noise within = WithinBlocks(runs);
  Verification verification;
  verification.seed_deviation = within.deviation();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    JudgedRival judged;
    if (r == 0) {
      judged.difference = {kNan, kNan, kNan, kNan, kNan};
      judged.seed_noise = judged.row_noise = kNan;
    } else {
      judged = Compare(runs[r], runs[0], within);
    }
    const double mean = runs[r].empty() ? kNan : MeanOf(ValuesOf(runs[r]));
    judged.seen = Around(mean, over_seeds, static_cast<double>(runs[r].size()));
    verification.rivals.push_back(judged);
    for (const auto& [seed, run] : runs[r]) {
      verification.rows = static_cast<std::int64_t>(run->rows.size());
    }
  }
  return verification;
}

}  // namespace frostline::importance
