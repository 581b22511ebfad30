// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/verification.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "statistics/compare.h"

namespace frostline::importance {
namespace {

using statistics::BySeed;
using statistics::Noise;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Interval Around(double value, const Noise& noise, double runs) {
  const double near = noise.Reach(0.8, runs), far = noise.Reach(0.95, runs);
  return {value, value - near, value + near, value - far, value + far};
}

double MeanOfRuns(const BySeed& runs) {
  std::vector<double> values;
  for (const auto& [seed, run] : runs) values.push_back(run->value);
  return values.empty() ? kNan : statistics::MeanOf(values);
}

std::int64_t RowsOf(const BySeed& runs) {
  for (const auto& [seed, run] : runs) {
    if (run->score == nullptr) continue;
    const auto& sizes = run->score->sizes();
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  }
  return 0;
}

void TakeJudgement(const statistics::PairJudged& pair, const Noise& within,
                   JudgedRival& judged) {
  judged.difference = Around(pair.difference, within.OfDifference(),
                             static_cast<double>(pair.pairs));
  judged.seed_noise = pair.seed_noise;
  judged.row_noise = pair.example_noise;
  judged.exceeds_seeds = std::abs(pair.difference) > pair.seed_noise;
  judged.exceeds_rows = std::abs(pair.difference) > pair.example_noise;
  judged.p = pair.p;
  judged.adjusted_p = pair.adjusted_p;
}

}  // namespace

Verification JudgeRuns(const std::vector<RivalRuns>& rivals,
                       std::uint64_t chance, const std::stop_token& stop) {
  std::vector<statistics::Contender> contenders;
  for (const RivalRuns& rival : rivals) contenders.push_back(rival.seen);
  statistics::Question question;
  question.chance = chance;
  question.stop = stop;
  const statistics::Judged found = statistics::Compare(contenders, question);
  std::vector<BySeed> runs;
  for (const statistics::Contender& contender : contenders) {
    runs.push_back(statistics::WithResult(contender));
  }
  const Noise over_seeds = statistics::OverSeeds(runs);
  Verification verification;
  verification.seed_deviation = found.within.deviation();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    JudgedRival judged;
    judged.difference = {kNan, kNan, kNan, kNan, kNan};
    judged.seed_noise = judged.row_noise = kNan;
    judged.p = judged.adjusted_p = kNan;
    if (r > 0 && r <= found.pairs.size()) {
      TakeJudgement(found.pairs[r - 1], found.within, judged);
    }
    judged.seen = Around(MeanOfRuns(runs[r]), over_seeds,
                         static_cast<double>(runs[r].size()));
    if (verification.rows == 0) verification.rows = RowsOf(runs[r]);
    verification.rivals.push_back(judged);
  }
  return verification;
}

}  // namespace frostline::importance
