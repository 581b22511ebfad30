// SPDX-License-Identifier: Apache-2.0
#include "statistics/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/plain/statistics.h"
#include "base/rng.h"
#include "statistics/law.h"

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

namespace {

// Returns the share among the draws and the one that was seen.
double ShareOf(std::ptrdiff_t beyond, std::size_t draws) {
  return (static_cast<double>(beyond) + 1.0) /
         (static_cast<double>(draws) + 1.0);
}

}  // namespace

ShiftTests OfProportions(const PairedCounts& counts) {
  const auto score = [counts](double d) {
    if (d <= -1.0) return HUGE_VAL;
    return d >= 1.0 ? -HUGE_VAL : TangoScore(counts, d);
  };
  return {[score](double d) { return NormalBelow(-score(d)); },
          [score](double d) { return NormalBelow(score(d)); },
          [counts](double level) {
            return TangoInterval(counts, NormalQuantile(0.5 + level / 2.0));
          }};
}

ShiftTests OfStudent(double difference, double deviation, double freedom) {
  const auto far = [=](double d) {
    return difference == d ? 0.0 : (difference - d) / deviation;
  };
  return {[=](double d) { return StudentBelow(-far(d), freedom); },
          [=](double d) { return StudentBelow(far(d), freedom); },
          [=](double level) {
            const double reach =
                StudentQuantile(0.5 + level / 2.0, freedom) * deviation;
            return Range{difference - reach, difference + reach};
          }};
}

ShiftTests OfDraws(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  const auto draws =
      std::make_shared<const std::vector<double>>(std::move(differences));
  return {[draws](double d) {
            const auto end = std::upper_bound(draws->begin(), draws->end(), d);
            return ShareOf(end - draws->begin(), draws->size());
          },
          [draws](double d) {
            const auto end = std::lower_bound(draws->begin(), draws->end(), d);
            return ShareOf(draws->end() - end, draws->size());
          },
          [draws](double level) {
            return Range{QuantileOfSorted(*draws, 0.5 - level / 2.0),
                         QuantileOfSorted(*draws, 0.5 + level / 2.0)};
          }};
}

namespace {

constexpr std::size_t kMostScored = 200'000'000;  // examples

}  // namespace

std::size_t DrawsFor(std::size_t runs, std::size_t examples) {
  const std::size_t each = std::max<std::size_t>(runs * examples, 1);
  return std::clamp(kMostScored / each, kFewestDraws, kMostDraws);
}

std::vector<std::vector<double>> ResampledScores(
    const std::vector<const RunScore*>& runs, std::size_t draws, Rng& rng,
    const std::stop_token& stop) {
  std::vector<std::vector<double>> scores(runs.size());
  const std::size_t units = runs.empty() ? 0 : runs[0]->units();
  std::vector<std::uint32_t> times(units);
  for (std::size_t draw = 0; draw < draws && !stop.stop_requested(); ++draw) {
    std::fill(times.begin(), times.end(), 0);
    for (std::size_t i = 0; i < units; ++i) ++times[rng.Below(units)];
    for (std::size_t run = 0; run < runs.size(); ++run) {
      scores[run].push_back(runs[run]->At(times));
    }
  }
  return scores;
}

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

// Returns the deviation of a ratio of sums over units (Cochran, 1977, 6.4).
// Half an example is added to each side (Agresti and Min, 2005): runs that
// agree on every example of this set may differ on others.
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

namespace {

constexpr double kNoComparison = std::numeric_limits<double>::quiet_NaN();

struct Task {
  PairJudged judged;
  RunPairs runs;
};

std::vector<Task> TasksOf(const std::vector<Contender>& contenders,
                          bool all_pairs) {
  std::vector<Task> tasks;
  for (std::size_t a = 0; a < contenders.size(); ++a) {
    for (std::size_t b = a + 1; b < contenders.size(); ++b) {
      Task& task = tasks.emplace_back();
      task.judged.first = a;
      task.judged.second = b;
      task.runs = PairedRuns(contenders[a], contenders[b]);
      task.judged.pairs = task.runs.size();
    }
    if (!all_pairs) break;
  }
  return tasks;
}

// Every run that takes the bootstrap, once, on the same draws.
std::map<const Run*, std::vector<double>> DrawAll(
    const std::vector<Task>& tasks, const Question& question) {
  std::vector<const Run*> runs;
  std::set<const Run*> seen;
  for (const Task& task : tasks) {
    if (!HaveExamples(task.runs) || !NeedDraws(task.runs)) continue;
    for (const auto& [first, second] : task.runs) {
      for (const Run* run : {first, second}) {
        if (seen.insert(run).second) runs.push_back(run);
      }
    }
  }
  std::map<const Run*, std::vector<double>> draws;
  if (runs.empty()) return draws;
  std::vector<const RunScore*> scores;
  for (const Run* run : runs) scores.push_back(run->score.get());
  std::size_t examples = 0;
  for (const std::uint32_t size : scores[0]->sizes()) examples += size;
  Rng rng(question.chance);
  const std::size_t count =
      std::min(DrawsFor(runs.size(), examples), question.most_draws);
  auto drawn = ResampledScores(scores, count, rng, question.stop);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    draws[runs[i]] = std::move(drawn[i]);
  }
  return draws;
}

// The variance that examples and seeds leave, with its degrees of freedom.
struct Spread {
  double variance = 0.0;
  double squares_by_freedom = 0.0;

  void Add(double part, double of_freedom) {
    if (std::isnan(part)) return;
    variance += part;
    squares_by_freedom += part * part / of_freedom;
  }
  double freedom() const {
    return squares_by_freedom > 0.0 ? variance * variance / squares_by_freedom
                                    : std::numeric_limits<double>::infinity();
  }
};

double TwoSided(const ShiftTests& shifts) {
  return std::min(1.0, 2.0 * std::min(shifts.above(0.0), shifts.below(0.0)));
}

double MeanDifference(const RunPairs& runs) {
  double sum = 0.0;
  for (const auto& [first, second] : runs) sum += second->value - first->value;
  return runs.empty() ? kNoComparison : sum / static_cast<double>(runs.size());
}

// The noise of blocks of the whole family or, where not all have the same
// seeds, of this pair.
Noise NoiseOf(const RunPairs& runs, const Noise& family) {
  if (family.known() || runs.size() < 2) return family;
  std::vector<BySeed> two(2);
  for (const auto& [first, second] : runs) {
    two[0][first->seed] = first;
    two[1][first->seed] = second;
  }
  return WithinBlocks(two);
}

void JudgeMargin(const ShiftTests& shifts, const Question& question,
                 PairJudged& judged) {
  const double up = shifts.above(-question.margin);
  const double down = shifts.below(question.margin);
  judged.worse_p = question.more_is_better ? up : down;
  judged.apart_p = std::max(up, down);
}

void Judge(const Question& question, const Noise& family,
           const ExampleEvidence& examples, double alpha, Task& task) {
  PairJudged& judged = task.judged;
  const auto pairs = static_cast<double>(judged.pairs);
  judged.method = examples.method;
  judged.difference = MeanDifference(task.runs);
  judged.example_p = examples.p;
  judged.example_noise =
      NormalQuantile(0.5 + (1.0 - kLevel) / 2.0) * examples.deviation;
  const Noise noise = NoiseOf(task.runs, family).OfDifference();
  const bool seeds = judged.pairs > 0 && noise.known();
  judged.seed_p = kNoComparison;
  judged.seed_noise = seeds ? noise.Reach(1.0 - kLevel, pairs) : kNoComparison;
  ShiftTests shifts = examples.shifts;
  Spread spread;
  if (!std::isnan(examples.deviation)) {
    spread.Add(examples.deviation * examples.deviation, examples.units - 1.0);
  }
  judged.p = examples.p;
  if (seeds) {
    const double of_seeds = noise.squares / noise.freedom / pairs;
    judged.seed_p = TwoSided(
        OfStudent(judged.difference, std::sqrt(of_seeds), noise.freedom));
    spread.Add(of_seeds, noise.freedom);
    if (judged.method == Method::kNone) judged.method = Method::kSeeds;
    shifts = OfStudent(judged.difference, std::sqrt(spread.variance),
                       spread.freedom());
    judged.p = TwoSided(shifts);
  }
  judged.interval = {kNoComparison, kNoComparison};
  judged.worse_p = judged.apart_p = judged.smallest = kNoComparison;
  // Nothing has shown how far apart they might be.
  if (judged.method == Method::kNone || !(spread.variance > 0.0)) return;
  judged.interval = shifts.interval(1.0 - kLevel);
  if (question.margin > 0.0) JudgeMargin(shifts, question, judged);
  judged.smallest =
      !seeds && examples.counts.has_value()
          ? SmallestProportion(*examples.counts, alpha, kPower)
          : (StudentQuantile(1.0 - alpha / 2.0, spread.freedom()) +
             StudentQuantile(kPower, spread.freedom())) *
                std::sqrt(spread.variance);
}

std::vector<double> Adjusted(const std::vector<Task>& tasks,
                             double PairJudged::* field) {
  std::vector<double> p;
  for (const Task& task : tasks) p.push_back(task.judged.*field);
  return HolmAdjusted(p);
}

}  // namespace

Judged Compare(const std::vector<Contender>& contenders,
               const Question& question) {
  std::vector<BySeed> by_seed;
  for (const Contender& contender : contenders) {
    by_seed.push_back(WithResult(contender));
  }
  Judged judged;
  judged.within = WithinBlocks(by_seed);
  std::vector<Task> tasks = TasksOf(contenders, question.all_pairs);
  const auto draws = DrawAll(tasks, question);
  if (question.stop.stop_requested()) return judged;
  if (!draws.empty()) judged.draws = draws.begin()->second.size();
  const auto of_run = [&draws](const Run& run) -> const std::vector<double>& {
    return draws.at(&run);
  };
  for (Task& task : tasks) {
    ExampleEvidence examples;
    if (HaveExamples(task.runs)) examples = EvidenceOf(task.runs, of_run);
    Judge(question, judged.within, examples,
          kLevel / static_cast<double>(tasks.size()), task);
  }
  const auto p = Adjusted(tasks, &PairJudged::p);
  const auto worse = Adjusted(tasks, &PairJudged::worse_p);
  const auto apart = Adjusted(tasks, &PairJudged::apart_p);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    PairJudged& pair = tasks[i].judged;
    pair.adjusted_p = p[i];
    pair.worse_p = worse[i];
    pair.apart_p = apart[i];
    pair.differs = p[i] < kLevel;
    pair.not_worse = worse[i] < kLevel;
    pair.equivalent = apart[i] < kLevel;
    judged.pairs.push_back(pair);
  }
  return judged;
}

namespace {

std::string Number(const Told& told, double amount) {
  return told.in_points ? absl::StrFormat("%.1f", 100.0 * amount)
                        : absl::StrFormat("%.4g", amount);
}

// "2.6 points", "0.026 rmse".
std::string AmountText(const Told& told, double amount) {
  return absl::StrCat(Number(told, amount), " ",
                      told.in_points ? "points" : told.metric);
}

std::string PText(double p, bool in_family) {
  return absl::StrCat(in_family ? "adjusted p" : "p",
                      p < 0.001 ? " < 0.001" : absl::StrFormat(" = %.3f", p));
}

std::string IntervalText(const Told& told, const PairJudged& pair) {
  if (std::isnan(pair.interval.low)) return "";
  return absl::StrCat(" (95 %: ", Number(told, pair.interval.low), " to ",
                      Number(told, pair.interval.high), ")");
}

std::string Material(const Told& told, const PairJudged& pair) {
  const std::string seeds =
      std::isnan(pair.seed_p) ? "" : absl::StrCat(pair.pairs, " seeds");
  if (pair.method == Method::kSeeds) return seeds;
  return seeds.empty() ? told.examples
                       : absl::StrCat(told.examples, " and ", seeds);
}

// Who is better is not worse, and of who is worse only that it is so by less
// than the margin says something new.
std::string MarginText(const Told& told, const PairJudged& pair, bool better) {
  if (!(told.margin > 0.0) || std::isnan(pair.worse_p)) return "";
  const bool is_news = pair.equivalent || (pair.not_worse && !better);
  if (pair.differs && !is_news) return "";
  const std::string margin = AmountText(told, told.margin);
  if (pair.equivalent) {
    return absl::StrCat("; the two are less than ", margin, " apart, ",
                        PText(pair.apart_p, told.in_family));
  }
  if (pair.not_worse) {
    return absl::StrCat("; ", told.second, " is not worse by ", margin,
                        " or more, ", PText(pair.worse_p, told.in_family));
  }
  return absl::StrCat("; that ", told.second, " is not worse by ", margin,
                      " or more is not shown, ",
                      PText(pair.worse_p, told.in_family));
}

}  // namespace

std::string FindingSentence(const Told& told, const PairJudged& pair) {
  const std::string two = absl::StrCat(told.second, " and ", told.first);
  if (pair.method == Method::kNone || std::isnan(pair.p)) {
    return absl::StrCat(two,
                        " cannot be compared by a test: one run each, and "
                        "their examples are not known");
  }
  const std::string p = PText(pair.adjusted_p, told.in_family);
  const bool better = (pair.difference > 0.0) == told.more_is_better;
  const std::string margin = MarginText(told, pair, better);
  if (pair.differs) {
    return absl::StrCat(
        told.second, better ? " is better than " : " is worse than ",
        told.first, " by ", AmountText(told, std::abs(pair.difference)),
        told.in_points ? absl::StrCat(" of ", told.metric) : "",
        IntervalText(told, pair), ", ", p, margin);
  }
  if (std::isnan(pair.smallest)) {
    return absl::StrCat(two, " come to the same on all of ",
                        Material(told, pair),
                        ": how far apart they are on others is not known");
  }
  return absl::StrCat(two, " cannot be told apart in ", told.metric, ": ",
                      AmountText(told, pair.difference),
                      IntervalText(told, pair), ", ", p, "; ",
                      Material(told, pair), " cannot show less than ",
                      AmountText(told, pair.smallest), margin);
}

}  // namespace frostline::statistics
