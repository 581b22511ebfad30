// SPDX-License-Identifier: Apache-2.0
//
// Whether a verdict on stability can be believed, and a comparison of two
// studies: uniform trials of the cases of a file of truths, normal noise of 0.3
// deviations of the target, 5 seeds (with --quick 1), judged at 30 … 1,000
// trials of one growing study.
//
//   stability.settled_nN       share of the studies that are settled by then
//   stability.right            of those: no parameter is ranked above another
//                              that clearly has more to say
//   stability.right_to_the_last  … and the distinguishable with distinct shares
//                              are in order, however near to each other
//   stability.more_ratio       median of the trials it really took over those
//                              foretold; more_ratio_q10, more_ratio_q90
//   stability.seconds_1000x26  20 beginnings and their verdict
//   compare.same_tau_covered   two studies of a truth with distinct shares,
//                              300 trials each: 1 within the 95 % interval
//   compare.false_alarms       share of those with any shift that is none
//   compare.other_covered      studies of two truths of 7: tau of the truths is
//                              within the 95 % interval
//   compare.other_found        share of those with a shift that is seen
//
// --truths FILE takes another file.
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/plain/statistics.h"
#include "importance/ranking.h"
#include "tests/bench/bench_main.h"
#include "tests/importance/trials.h"
#include "tests/search/truths.h"

namespace frostline::bench {
namespace {

constexpr const char* kTruths = "tests/parity/data/truths.json";
constexpr double kNoise = 0.3;
constexpr int kSizes[] = {30, 60, 100, 150, 200, 300, 500, 1000};
constexpr int kCompared = 300;  // trials of either study

const std::vector<Objective> kScore = {{"score", Direction::kMaximize}};

std::vector<double> SharesOf(const test::Truth& truth) {
  std::vector<double> shares(static_cast<std::size_t>(truth.modules), 0.0);
  for (const test::TruthTerm& term : truth.terms) {
    if (term.axes.size() == 1) shares[term.axes[0]] += term.share;
  }
  return shares;
}

bool HasTies(const std::vector<double>& shares) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(shares[i] - shares[j]) < 1e-9) return true;
    }
  }
  return false;
}

// Other points and other noise for each case.
History NoisyTrials(const test::Truth& truth, int trials, int run) {
  std::uint64_t seed = static_cast<std::uint64_t>(run);
  for (const char letter : truth.name) {
    seed = seed * 1'000'003 + static_cast<unsigned char>(letter);
  }
  return importance::UniformTrials(
      truth.MakeSpace(), trials,
      [&truth](const Point& point, Rng& rng) {
        return truth.Target(point) + kNoise * rng.Normal();
      },
      seed);
}

History Beginning(const History& history, int trials) {
  History beginning;
  for (int i = 0; i < trials; ++i) {
    beginning.Put(history.trials()[static_cast<std::size_t>(i)]);
  }
  return beginning;
}

template <typename T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(std::string(result.status().message()));
  }
  return *std::move(result);
}

// One more answer to each of these questions is added by every study.
struct Answers {
  std::vector<double> right;
  std::vector<double> right_to_the_last;
  std::vector<double> more_ratio;
  std::vector<std::vector<double>> settled{std::size(kSizes)};
};

bool IsRightToTheLast(
    const std::vector<double>& truth,
    const std::vector<importance::ParameterImportance>& found) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < truth.size(); ++j) {
      if (found[i].distinguishable && found[j].distinguishable &&
          truth[i] > truth[j] + 1e-9 && found[i].rank > found[j].rank) {
        return false;
      }
    }
  }
  return true;
}

void Continue(const test::Truth& truth, int run, Answers& answers) {
  const std::vector<double> shares = SharesOf(truth);
  const History history =
      NoisyTrials(truth, kSizes[std::size(kSizes) - 1], run);
  struct Foretold {
    double trials, more;
  };
  std::vector<Foretold> open;
  for (std::size_t k = 0; k < std::size(kSizes); ++k) {
    const Space space = truth.MakeSpace();
    const importance::Report report = Must(
        importance::Evaluate(space, kScore, Beginning(history, kSizes[k]), {}));
    const importance::StabilityVerdict verdict =
        importance::JudgeReport(space, report);
    const bool settled = verdict.state == importance::StabilityState::kSettled;
    answers.settled[k].push_back(settled);
    if (!settled) {
      if (verdict.more_trials > 0) {
        open.push_back({static_cast<double>(kSizes[k]),
                        static_cast<double>(verdict.more_trials)});
      }
      continue;
    }
    const std::vector<importance::ParameterImportance>& found =
        report.parameters;
    std::vector<double> values;
    for (const importance::ParameterImportance& one : found) {
      values.push_back(one.main.value);
    }
    answers.right.push_back(!importance::IsOrderChanged(values, shares));
    answers.right_to_the_last.push_back(IsRightToTheLast(shares, found));
    // It became settled somewhere between the last look and this one.
    const double middle = k == 0 ? kSizes[k] : (kSizes[k] + kSizes[k - 1]) / 2.;
    for (const Foretold& one : open) {
      answers.more_ratio.push_back((middle - one.trials) / one.more);
    }
    open.clear();
  }
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void PrintStability(const Bench& bench,
                    const std::vector<test::Truth>& truths) {
  Answers answers;
  for (const test::Truth& truth : truths) {
    for (int run = 0; run < (bench.quick() ? 1 : 5); ++run) {
      Continue(truth, run, answers);
    }
  }
  for (std::size_t k = 0; k < std::size(kSizes); ++k) {
    bench.Figure("stability.settled_n" + std::to_string(kSizes[k]),
                 MeanOf(answers.settled[k]));
  }
  bench.Figure("stability.right", MeanOf(answers.right));
  bench.Figure("stability.right_to_the_last",
               MeanOf(answers.right_to_the_last));
  if (answers.more_ratio.empty()) return;
  bench.Figure("stability.more_ratio", Quantile(answers.more_ratio, 0.5));
  bench.Figure("stability.more_ratio_q10", Quantile(answers.more_ratio, 0.1));
  bench.Figure("stability.more_ratio_q90", Quantile(answers.more_ratio, 0.9));
}

void PrintSeconds(const Bench& bench) {
  const Space space = importance::LevelSpace(26, 7);
  const History history =
      importance::UniformTrials(space, 1000, [](const Point& point, Rng& rng) {
        double sum = rng.Normal();
        for (std::size_t i = 0; i < point.size(); i += 3) sum += point[i];
        return sum;
      });
  const auto start = std::chrono::steady_clock::now();
  Keep(Must(importance::EvaluateStability(space, kScore, history, {}, 0)));
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  bench.Figure("stability.seconds_1000x26", spent.count());
}

importance::Comparison Compared(const test::Truth& first,
                                const test::Truth& second, int run) {
  const Space space = first.MakeSpace();
  importance::EvaluateOptions options;
  options.pairs = false;
  const importance::Report one = Must(importance::Evaluate(
      space, kScore, NoisyTrials(first, kCompared, 1000 + 2 * run), options));
  const importance::Report two = Must(importance::Evaluate(
      space, kScore, NoisyTrials(second, kCompared, 1001 + 2 * run), options));
  return Must(importance::CompareReports({space, one}, {space, two}));
}

bool SeesAnyShift(const importance::Comparison& comparison) {
  for (const importance::ParameterShift& shift : comparison.shifts) {
    if (shift.distinguishable) return true;
  }
  return false;
}

void PrintComparisons(const Bench& bench,
                      const std::vector<test::Truth>& truths) {
  std::vector<double> covered, alarms, other_covered, other_found;
  const int runs = bench.quick() ? 3 : 20;
  for (const test::Truth& first : truths) {
    for (int run = 0; run < runs; ++run) {
      const importance::Comparison same = Compared(first, first, run);
      alarms.push_back(SeesAnyShift(same));
      if (HasTies(SharesOf(first))) continue;
      covered.push_back(same.rank_agreement.hi95 >= 1.0);
    }
    if (first.modules != 7 || HasTies(SharesOf(first))) continue;
    for (const test::Truth& second : truths) {
      // Shares the other way round, so that the truths do not agree.
      if (second.modules != 7 || HasTies(SharesOf(second))) continue;
      test::Truth turned = second;
      for (test::TruthTerm& term : turned.terms) {
        for (std::size_t& axis : term.axes) axis = 6 - axis;
      }
      if (second.name.find("inter") != std::string::npos) continue;
      const double tau =
          importance::KendallTau(SharesOf(first), SharesOf(turned));
      const importance::Comparison other = Compared(first, turned, 0);
      other_covered.push_back(tau >= other.rank_agreement.lo95 - 1e-9 &&
                              tau <= other.rank_agreement.hi95 + 1e-9);
      other_found.push_back(SeesAnyShift(other));
    }
  }
  bench.Figure("compare.same_tau_covered", MeanOf(covered));
  bench.Figure("compare.false_alarms", MeanOf(alarms));
  bench.Figure("compare.other_covered", MeanOf(other_covered));
  bench.Figure("compare.other_found", MeanOf(other_found));
}

void Run(const Bench& bench) {
  const std::vector<test::Truth> truths = test::ReadTruths(
      bench.file().empty() ? std::string(FROSTLINE_SOURCE_DIR) + "/" + kTruths
                           : bench.file());
  PrintSeconds(bench);
  PrintComparisons(bench, truths);
  PrintStability(bench, truths);
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "--truths",
                                    frostline::bench::Run);
}
