// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
//
// What is compared: settings, each with a run for every seed it was tried with.
// Runs of one seed are a block: what the seed does to all alike is no
// difference between them.
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

struct Run {
  std::uint64_t seed = 0;
  double value = 0.0;  // of the metric; NaN: no result
  // Null where its examples are not known, or their metric is not the value.
  std::shared_ptr<const RunScore> score;
};

struct Contender {
  std::string name;
  std::vector<Run> runs;
};

// Its runs with a result; of a repeated seed the last one.
using BySeed = std::map<std::uint64_t, const Run*>;
BySeed WithResult(const Contender& contender);

// The first's run and the second's of each seed that both have run with. Where
// each has one run, these, whatever their seeds.
std::vector<std::pair<const Run*, const Run*>> PairedRuns(
    const Contender& first, const Contender& second);

// What the seed makes of a run's score. With the same seeds for all it is what
// is left of a randomised block design without repeats (Fisher, 1935): of two
// contenders that is the paired t-test.
//
//   rest(c, s) = value(c, s) - mean of c - mean of s + mean of all
//   variance   = sum of rest^2 / ((contenders - 1) (seeds - 1))

// A variance as its sum of squares and degrees of freedom.
struct Noise {
  double squares = 0.0;
  double freedom = 0.0;

  bool known() const { return freedom >= 1.0; }
  double deviation() const;  // NaN unless known
  // How far the mean of `runs` may be off, with probability `level`; NaN unless
  // known.
  double Reach(double level, double runs) const;
  // Of the difference of two: twice the variance of one.
  Noise OfDifference() const { return {2.0 * squares, freedom}; }
};

double MeanOf(const std::vector<double>& values);
double SquaresAround(const std::vector<double>& values, double mean);

// Of runs about their own contender's mean: what one more seed would show.
Noise OverSeeds(const std::vector<BySeed>& contenders);

// Of one run, over the seeds that all contenders with a result have run with.
Noise WithinBlocks(const std::vector<BySeed>& contenders);

// One-sided tests of how large a difference is, for any supposed size. Two of
// them make an equivalence test (Schuirmann, 1987), and all sizes that are not
// refused an interval.

struct ShiftTests {
  // The p-value of "the difference is at most so much": small where it is more.
  std::function<double(double)> above;
  std::function<double(double)> below;  // "at least so much"
  // Of this coverage, between the same tests' limits.
  std::function<Range(double)> interval;
};

// By Tango's score.
ShiftTests OfProportions(const PairedCounts& counts);

// (difference - supposed) / deviation is Student's.
ShiftTests OfStudent(double difference, double deviation, double freedom);

// By the share of bootstrapped differences beyond (Efron and Tibshirani, 1993),
// of which one more is taken to be: no p-value is 0.
ShiftTests OfDraws(std::vector<double> differences);

// The paired bootstrap: units are drawn with replacement, and every run is
// scored on the same draw, so that what an easy draw does to all cancels.

inline constexpr std::size_t kMostDraws = 10'000;
inline constexpr std::size_t kFewestDraws = 1'000;

// As many as cost about a second of so many runs of so many examples.
std::size_t DrawsFor(std::size_t runs, std::size_t examples);

// Scores by run, then by draw. After a stop they are of no use. REQUIRES: all
// have the same units.
std::vector<std::vector<double>> ResampledScores(
    const std::vector<const RunScore*>& runs, std::size_t draws, Rng& rng,
    const std::stop_token& stop);

// What the examples leave open of a difference between runs that are as they
// are: would others like these show it too?
//
//   accuracy, one pair of runs         McNemar's exact test; Tango's intervals
//   accuracy by sentence or over seeds the exact test of signs of what each
//                                      sentence or example comes to over all
//   everything else                    the paired bootstrap

enum class Method { kNone, kMcNemar, kSigns, kBootstrap, kSeeds };

struct ExampleEvidence {
  Method method = Method::kNone;
  // Of a difference of none. NaN: the examples are not known.
  double p = std::numeric_limits<double>::quiet_NaN();
  // Of the difference over other examples.
  double deviation = std::numeric_limits<double>::quiet_NaN();
  double units = 0.0;
  ShiftTests shifts;
  std::optional<PairedCounts> counts;  // McNemar's alone
};

using RunPairs = std::vector<std::pair<const Run*, const Run*>>;
// The scores of a run over all draws.
using DrawsOf = std::function<const std::vector<double>&(const Run&)>;

// Whether all runs have scores of the same units.
bool HaveExamples(const RunPairs& pairs);
// Whether it takes the bootstrap.
bool NeedDraws(const RunPairs& pairs);

// `draws` is asked only where NeedDraws(). REQUIRES: HaveExamples().
ExampleEvidence EvidenceOf(const RunPairs& pairs, const DrawsOf& draws);

// Which of some settings are better, and what cannot be told from noise.
//
// Two things may make a difference that is none: which examples the set
// happens to have, and which seeds the runs happened to get. With one run each
// the seeds' part is not known, and what is judged is these runs (example_
// evidence.h). With two seeds in common or more both variances are added (Owen,
// 2007), with the degrees of freedom of Welch and Satterthwaite:
//
//   V = 2 s^2 / seeds + v(examples)      t = difference / sqrt(V)
//
// All tests of one call are a family: their p-values are Holm's. The seed of
// chance comes in by the door, so the same question has the same answer.

inline constexpr double kLevel = 0.05;  // of a false finding in the family
inline constexpr double kPower = 0.8;

struct Question {
  bool more_is_better = true;
  double margin = 0.0;     // 0: nobody asks whether they are equivalent
  bool all_pairs = false;  // else each with the first
  std::uint64_t chance = 0;
  std::size_t most_draws = kMostDraws;
  std::stop_token stop = {};
};

struct PairJudged {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t pairs = 0;  // of runs
  Method method = Method::kNone;
  // Second less first; all of these are NaN where they are not known.
  double difference = 0.0;
  Range interval;              // 95 %
  double example_noise = 0.0;  // 95 % of what equal runs differ by
  double seed_noise = 0.0;     // the same of equal settings
  double example_p = 0.0;
  double seed_p = 0.0;
  double p = 0.0;  // of both where both are known
  double adjusted_p = 0.0;
  bool differs = false;
  double smallest = 0.0;  // difference that could have been seen
  // That the second is worse by the margin or more, and that it differs by as
  // much either way; Holm's, of families of their own.
  double worse_p = 0.0;
  double apart_p = 0.0;
  bool not_worse = false;
  bool equivalent = false;
};

struct Judged {
  std::vector<PairJudged> pairs;
  Noise within;           // of one run, within blocks
  std::size_t draws = 0;  // of the bootstrap; 0: none was needed
};

// After a stop the answer is of no use.
Judged Compare(const std::vector<Contender>& contenders,
               const Question& question);

struct Told {
  std::string metric;
  std::string first;
  std::string second;
  std::string examples;    // "544 examples", "80 sentences"
  bool in_points = false;  // of a metric that ends at 1: "2.6 points"
  bool more_is_better = true;
  double margin = 0.0;
  bool in_family = false;  // of more than one test
};

// Says what was found in one sentence, and of what cannot be told from noise
// what could have been.
std::string FindingSentence(const Told& told, const PairJudged& pair);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_COMPARE_H_
