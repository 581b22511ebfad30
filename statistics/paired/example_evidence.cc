// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/example_evidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics/law/exact_signs.h"
#include "statistics/paired/block_noise.h"

namespace frostline::statistics {
namespace {

// What each unit comes to over all pairs: second less first.
std::vector<double> UnitDifferences(const RunPairs& pairs) {
  std::vector<double> sums(pairs[0].first->score->units(), 0.0);
  for (const auto& [first, second] : pairs) {
    for (std::size_t u = 0; u < sums.size(); ++u) {
      sums[u] += second->score->sums()[u] - first->score->sums()[u];
    }
  }
  return sums;
}

// Of a ratio of sums over units (Cochran, 1977, 6.4). Half an example is added
// to each side (Agresti and Min, 2005): runs that agree on every example of
// this set may differ on others.
double DeviationOf(const std::vector<double>& sums, const RunScore& score,
                   double pairs, bool counts) {
  const auto units = static_cast<double>(sums.size());
  const double examples =
      std::accumulate(score.sizes().begin(), score.sizes().end(), 0.0);
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / examples;
  double squares = counts ? pairs * pairs : 0.0;
  for (std::size_t u = 0; u < sums.size(); ++u) {
    const double rest = sums[u] - mean * score.sizes()[u];
    squares += rest * rest;
  }
  if (units < 2.0) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(squares * units / (units - 1.0)) / examples / pairs;
}

std::vector<std::int64_t> Whole(const std::vector<double>& sums) {
  std::vector<std::int64_t> whole;
  for (const double sum : sums) whole.push_back(std::llround(sum));
  return whole;
}

PairedCounts CountsOf(const std::vector<double>& sums) {
  PairedCounts counts{static_cast<std::int64_t>(sums.size()), 0, 0};
  for (const double sum : sums) {
    counts.gained += sum > 0.5;
    counts.lost += sum < -0.5;
  }
  return counts;
}

void JudgeCounts(const RunPairs& pairs, ExampleEvidence& evidence) {
  const RunScore& score = *pairs[0].first->score;
  const std::vector<double> sums = UnitDifferences(pairs);
  const auto runs = static_cast<double>(pairs.size());
  evidence.deviation = DeviationOf(sums, score, runs, true);
  evidence.p = SignsP(Whole(sums));
  if (pairs.size() == 1 && !score.by_sentence()) {
    evidence.method = Method::kMcNemar;
    evidence.counts = CountsOf(sums);
    evidence.shifts = OfProportions(*evidence.counts);
    return;
  }
  evidence.method = Method::kSigns;
  const double examples =
      std::accumulate(score.sizes().begin(), score.sizes().end(), 0.0);
  const double difference =
      std::accumulate(sums.begin(), sums.end(), 0.0) / examples / runs;
  evidence.shifts =
      OfStudent(difference, evidence.deviation, evidence.units - 1.0);
}

void JudgeDraws(const RunPairs& pairs, const DrawsOf& draws,
                ExampleEvidence& evidence) {
  std::vector<double> differences(draws(*pairs[0].first).size(), 0.0);
  const auto runs = static_cast<double>(pairs.size());
  for (const auto& [first, second] : pairs) {
    const std::vector<double>& one = draws(*first);
    const std::vector<double>& other = draws(*second);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      differences[i] += (other[i] - one[i]) / runs;
    }
  }
  const double mean = MeanOf(differences);
  evidence.method = Method::kBootstrap;
  evidence.deviation =
      std::sqrt(SquaresAround(differences, mean) /
                std::max(1.0, static_cast<double>(differences.size()) - 1.0));
  evidence.shifts = OfDraws(std::move(differences));
  evidence.p = std::min(1.0, 2.0 * std::min(evidence.shifts.above(0.0),
                                            evidence.shifts.below(0.0)));
}

}  // namespace

bool HaveExamples(const RunPairs& pairs) {
  if (pairs.empty() || pairs[0].first->score == nullptr) return false;
  const RunScore& one = *pairs[0].first->score;
  const auto same = [&one](const Run* run) {
    return run->score != nullptr && run->score->sizes() == one.sizes() &&
           run->score->sums().size() == one.sums().size();
  };
  return one.units() > 1 &&
         std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
           return same(pair.first) && same(pair.second);
         });
}

bool NeedDraws(const RunPairs& pairs) {
  return std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) {
    return !pair.first->score->counts() || !pair.second->score->counts();
  });
}

ExampleEvidence EvidenceOf(const RunPairs& pairs, const DrawsOf& draws) {
  ExampleEvidence evidence;
  evidence.units = static_cast<double>(pairs[0].first->score->units());
  if (NeedDraws(pairs)) {
    JudgeDraws(pairs, draws, evidence);
  } else {
    JudgeCounts(pairs, evidence);
  }
  return evidence;
}

}  // namespace frostline::statistics
