// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
//
// Compares settings, each with one run for every seed it was tried with. Runs
// of one seed form a block: an effect that the seed has on all of them alike
// does not count as a difference between them.
#ifndef FROSTLINE_STATISTICS_COMPARE_H_
#define FROSTLINE_STATISTICS_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "statistics/law.h"
#include "statistics/run_score.h"

namespace frostline::statistics {

// One run of a setting: its seed, its result and its score by example.
struct Run {
  std::uint64_t seed = 0;
  double value = 0.0;  // the metric; NaN: no result
  // Null if its examples are not known, or if their metric is not `value`.
  std::shared_ptr<const RunScore> score;
};

// A setting that is compared, with all of its runs.
struct Contender {
  std::string name;
  std::vector<Run> runs;
};

// The runs with a result, by seed. The last run of a repeated seed counts.
using BySeed = std::map<std::uint64_t, const Run*>;
BySeed WithResult(const Contender& contender);

// Returns one pair of runs for each seed that both contenders have run with. If
// each has a single run, returns these two, whatever their seeds.
std::vector<std::pair<const Run*, const Run*>> PairedRuns(
    const Contender& first, const Contender& second);

// How much the seed changes a run's score. If all contenders ran with the same
// seeds, it is the residual of a randomised block design without repeats
// (Fisher, 1935). With two contenders that is the paired t-test.
//
//   rest(c, s) = value(c, s) - mean of c - mean of s + mean of all
//   variance   = sum of rest^2 / ((contenders - 1) (seeds - 1))

// A variance as its sum of squares and degrees of freedom.
struct Noise {
  double squares = 0.0;
  double freedom = 0.0;

  bool known() const { return freedom >= 1.0; }
  double deviation() const;  // NaN unless known
  // Returns how far the mean of `runs` may be off, with probability `level`;
  // NaN unless known.
  double Reach(double level, double runs) const;
  // Returns the noise of the difference of two: twice the variance of one.
  Noise OfDifference() const { return {2.0 * squares, freedom}; }
};

double MeanOf(const std::vector<double>& values);
double SquaresAround(const std::vector<double>& values, double mean);

// Returns the noise of runs around the mean of their own contender: what one
// more seed would show.
Noise OverSeeds(const std::vector<BySeed>& contenders);

// Returns the noise of one run within the blocks: over the seeds that all
// contenders with a result have run with.
Noise WithinBlocks(const std::vector<BySeed>& contenders);

// One-sided tests of how large a difference is, for any supposed size. Two of
// them make an equivalence test (Schuirmann, 1987). The sizes that they do not
// reject make an interval.

struct ShiftTests {
  // Returns the p-value of "the difference is at most this": small if it is
  // larger.
  std::function<double(double)> above;
  std::function<double(double)> below;  // "at least this"
  // Returns the interval of this coverage, between the limits of the tests.
  std::function<Range(double)> interval;
};

// Returns tests of two proportions by Tango's score.
ShiftTests OfProportions(const PairedCounts& counts);

// Returns tests by Student's law of (difference - supposed) / deviation.
ShiftTests OfStudent(double difference, double deviation, double freedom);

// Returns tests by the share of bootstrapped differences beyond the supposed
// one (Efron and Tibshirani, 1993). One more is counted than was drawn, so no
// p-value is 0.
ShiftTests OfDraws(std::vector<double> differences);

// The paired bootstrap: units are drawn with replacement, and every run is
// scored on the same draw. So an easy draw helps all runs alike and cancels.

inline constexpr std::size_t kMostDraws = 10'000;
inline constexpr std::size_t kFewestDraws = 1'000;

// Returns how many draws take about a second, for this many runs and examples.
std::size_t DrawsFor(std::size_t runs, std::size_t examples);

// Returns scores by run, then by draw. After a stop they are of no use.
// REQUIRES: all runs have the same units.
std::vector<std::vector<double>> ResampledScores(
    const std::vector<const RunScore*>& runs, std::size_t draws, Rng& rng,
    const std::stop_token& stop);

// What the examples say about a difference between fixed runs: would other
// examples like these show it too?
//
//   accuracy, one pair of runs         McNemar's exact test; Tango's intervals
//   accuracy by sentence or over seeds the exact test of signs of what each
//                                      sentence or example comes to over all
//   everything else                    the paired bootstrap

enum class Method { kNone, kMcNemar, kSigns, kBootstrap, kSeeds };

// The evidence that the examples give of a difference between runs.
struct ExampleEvidence {
  Method method = Method::kNone;
  // The p-value of "there is no difference". NaN: the examples are not known.
  double p = std::numeric_limits<double>::quiet_NaN();
  // The deviation of the difference over other examples.
  double deviation = std::numeric_limits<double>::quiet_NaN();
  double units = 0.0;
  ShiftTests shifts;
  std::optional<PairedCounts> counts;  // McNemar's alone
};

using RunPairs = std::vector<std::pair<const Run*, const Run*>>;
// Returns the scores of a run over all draws.
using DrawsOf = std::function<const std::vector<double>&(const Run&)>;

// Says whether all runs have scores of the same units.
bool HaveExamples(const RunPairs& pairs);
// Says whether the evidence needs the bootstrap.
bool NeedDraws(const RunPairs& pairs);

// Returns the evidence of the examples. Calls `draws` only if NeedDraws().
// REQUIRES: HaveExamples().
ExampleEvidence EvidenceOf(const RunPairs& pairs, const DrawsOf& draws);

// Says which settings are better, and which differences may be noise.
//
// Two things can feign a difference: which examples the set happens to have,
// and which seeds the runs happened to get. With one run each, the part of the
// seeds is not known, and only these runs are judged (ExampleEvidence). With
// two or more common seeds both variances are added (Owen, 2007), with the
// degrees of freedom of Welch and Satterthwaite:
//
//   V = 2 s^2 / seeds + v(examples)      t = difference / sqrt(V)
//
// All tests of one call are a family: their p-values are adjusted by Holm. The
// caller passes the random seed, so the same question has the same answer.

inline constexpr double kLevel = 0.05;  // false findings in a family
inline constexpr double kPower = 0.8;

// What is asked of a comparison.
struct Question {
  bool more_is_better = true;
  double margin = 0.0;     // 0: equivalence is not tested
  bool all_pairs = false;  // else each with the first one
  std::uint64_t chance = 0;
  std::size_t most_draws = kMostDraws;
  std::stop_token stop = {};
};

// What was found of one pair of contenders, by their indices.
struct PairJudged {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t pairs = 0;  // of runs
  Method method = Method::kNone;
  // Second minus first. Each number below is NaN if it is not known.
  double difference = 0.0;
  Range interval;              // 95 %
  double example_noise = 0.0;  // 95 % of equal runs differ by less
  double seed_noise = 0.0;     // the same for equal settings
  double example_p = 0.0;
  double seed_p = 0.0;
  double p = 0.0;  // from both, if both are known
  double adjusted_p = 0.0;
  bool differs = false;
  double smallest = 0.0;  // difference that could have been seen
  // The p-values of "the second is worse by the margin or more" and of "it
  // differs by the margin or more, either way". Each is adjusted by Holm in a
  // family of its own.
  double worse_p = 0.0;
  double apart_p = 0.0;
  bool not_worse = false;
  bool equivalent = false;
};

// What a comparison found: every pair, and the noise it was judged against.
struct Judged {
  std::vector<PairJudged> pairs;
  Noise within;           // of one run, within blocks
  std::size_t draws = 0;  // of the bootstrap; 0: none was needed
};

// Compares contenders in pairs. After a stop the answer is of no use.
Judged Compare(const std::vector<Contender>& contenders,
               const Question& question);

// The words that a sentence about a pair needs.
struct Told {
  std::string metric;
  std::string first;
  std::string second;
  std::string examples;    // "544 examples", "80 sentences"
  bool in_points = false;  // a metric with maximum 1: "2.6 points"
  bool more_is_better = true;
  double margin = 0.0;
  bool in_family = false;  // there is more than one test
};

// Says in one sentence what was found. If nothing was, says how large a
// difference would have been found.
std::string FindingSentence(const Told& told, const PairJudged& pair);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_COMPARE_H_
