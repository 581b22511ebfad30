// SPDX-License-Identifier: Apache-2.0
#include "statistics/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/rng.h"
#include "statistics/law/distributions.h"
#include "statistics/law/holm.h"

namespace frostline::statistics {
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

}  // namespace frostline::statistics
