// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_trials.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/rng.h"
#include "importance/measure/dataset.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"
#include "statistics/compare.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {
namespace {

constexpr int kRandomPoints = 64;
constexpr std::size_t kMostNeighbours = 96;
constexpr std::size_t kMostOpen = 256;
constexpr std::uint64_t kSeed = 53;

std::size_t PlaceOf(std::vector<PlanChoice>& points, PlanChoice point) {
  const auto at = std::find(points.begin(), points.end(), point);
  if (at != points.end()) {
    return static_cast<std::size_t>(at - points.begin());
  }
  points.push_back(std::move(point));
  return points.size() - 1;
}

PlanChoice RandomPoint(const PlanChoices& choices, PlanChoice point, Rng& rng) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(choices.values(i)[point[i]].value)) continue;
    const std::size_t first = IsAbsent(choices.values(i)[0].value) ? 1 : 0;
    const std::size_t count = choices.values(i).size() - first;
    point = choices.With(std::move(point), i, first + rng.Below(count));
  }
  return point;
}

std::vector<PlanChoice> Neighbours(const PlanChoices& choices,
                                   const PlanChoice& point) {
  std::vector<PlanChoice> near;
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (std::size_t v = 0; v < choices.values(i).size(); ++v) {
      if (v != point[i]) near.push_back(choices.With(point, i, v));
    }
  }
  return near;
}

// Levels and choices as they are, of a range the nearest value.
std::vector<PlanChoice> NearestTo(const PlanChoices& choices,
                                  const std::vector<const Point*>& points) {
  const std::vector<MeasuredAxis> axes = MeasureSpace(choices.space());
  std::vector<PlanChoice> nearest;
  for (const Point* const point : points) {
    if (nearest.size() == kMostOpen) break;
    PlanChoice& choice = nearest.emplace_back(point->size(), 0);
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const double code = axes[i].CodeOf((*point)[i]);
      const auto distance = [&](const AxisValue& one) {
        return std::abs(axes[i].CodeOf(one.value) - code);
      };
      const std::vector<AxisValue>& values = choices.values(i);
      const auto at =
          std::min_element(values.begin(), values.end(),
                           [&](const AxisValue& a, const AxisValue& b) {
                             return distance(a) < distance(b);
                           });
      choice[i] = static_cast<std::size_t>(at - values.begin());
    }
  }
  return nearest;
}

void AddModules(const PlanSearch& search, const PlanChoice& plan,
                QuestionPoints& asked) {
  const auto& modules = search.choices().space().modules();
  std::set<std::pair<std::size_t, std::size_t>> known;
  std::size_t m = 0;
  for (auto& pair : CompareFreezing(search, plan)) {
    const std::string& name = modules[m++].module;
    if (!pair.has_value()) continue;
    const std::size_t better = PlaceOf(asked.points, std::move(pair->trained));
    const std::size_t worse = PlaceOf(asked.points, std::move(pair->frozen));
    // Modules that are switched together are one question.
    if (!known.insert({better, worse}).second) continue;
    asked.questions.push_back(
        {better, worse,
         absl::StrCat("tells whether ", name, " is worth training")});
  }
}

}  // namespace

QuestionPoints FindQuestions(const PlanSearch& search, const PlanChoice& plan,
                             const std::vector<const Point*>& open) {
  const PlanChoices& choices = search.choices();
  const StudyBelief& belief = choices.belief();
  QuestionPoints asked;
  asked.points.push_back(plan);
  AddModules(search, plan, asked);
  PlanChoice rival = belief.ChoiceOf(belief.BestTrial());
  std::string name = absl::StrCat(
      "trial ", belief.selection().trials[belief.BestTrial()]->number);
  if (rival == plan) {
    rival = search.Best()[0];
    name = "the point of which most is expected";
  }
  if (rival != plan) {
    asked.questions.push_back(
        {0, PlaceOf(asked.points, rival),
         absl::StrCat("tells whether the plan is better than ", name)});
  }
  Rng rng(kSeed);
  std::vector<PlanChoice> near = Neighbours(choices, plan);
  for (PlanChoice& one : Neighbours(choices, rival)) {
    near.push_back(std::move(one));
  }
  for (std::size_t k = near.size(); k > 1; --k) {
    std::swap(near[k - 1], near[static_cast<std::size_t>(rng.Below(k))]);
  }
  near.resize(std::min(kMostNeighbours, near.size()));
  for (int k = 0; k < kRandomPoints; ++k) {
    near.push_back(RandomPoint(choices, plan, rng));
  }
  for (PlanChoice& one : near) {
    if (choices.IsInSpace(one)) PlaceOf(asked.points, std::move(one));
  }
  for (PlanChoice& one : NearestTo(choices, open)) {
    asked.told.push_back(PlaceOf(asked.points, std::move(one)));
  }
  return asked;
}

namespace {

constexpr int kMostAsked = 100;
constexpr std::size_t kScaleDraws = 6;

// The covariance of all points, as trials that will have been run take from it.
class OpenAnswers {
 public:
  OpenAnswers(const StudyBelief& belief, const QuestionPoints& asked)
      : questions_(asked.questions),
        size_(asked.points.size()),
        noise_(belief.surrogate().noise_variance()) {
    std::vector<surrogate::Cells> cells;
    cells.reserve(asked.points.size());
    for (const PlanChoice& point : asked.points) {
      cells.push_back(belief.rows().CellsOf(point));
    }
    covariance_ =
        surrogate::CovarianceAt(belief.surrogate(), cells, kScaleDraws);
  }

  double Uncertainty() const {
    double sum = 0.0;
    for (const OpenQuestion& one : questions_) {
      sum += std::max(With(one, one.better) - With(one, one.worse), 0.0);
    }
    return sum;
  }
  // What one more run at a point takes from the answer to a question.
  double Reduction(const OpenQuestion& question, std::size_t point) const {
    const double with = With(question, point);
    return with * with / VarianceOfRun(point);
  }
  double Reduction(std::size_t point) const {
    double sum = 0.0;
    for (const OpenQuestion& one : questions_) sum += Reduction(one, point);
    return sum;
  }
  void Run(std::size_t point) {
    const auto begin =
        covariance_.begin() + static_cast<std::ptrdiff_t>(point * size_);
    const std::vector<double> row(begin,
                                  begin + static_cast<std::ptrdiff_t>(size_));
    const double variance = VarianceOfRun(point);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        covariance_[i * size_ + j] -= row[i] * row[j] / variance;
      }
    }
  }

 private:
  double VarianceOfRun(std::size_t point) const {
    return std::max(covariance_[point * size_ + point], 0.0) + noise_ + 1e-300;
  }
  // Covariance of an answer and the value at a point.
  double With(const OpenQuestion& question, std::size_t point) const {
    return covariance_[question.better * size_ + point] -
           covariance_[question.worse * size_ + point];
  }

  const std::vector<OpenQuestion>& questions_;
  std::size_t size_;
  double noise_;
  std::vector<double> covariance_;
};

absl::Status CheckCount(int count) {
  if (count >= 1 && count <= kMostAsked) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("asked for ", count, " trials"),
                   absl::StrCat("ask for 1 to ", kMostAsked), "count");
}

// Returns which of the points that may be run tells most; nullopt if there is
// none.
std::optional<std::size_t> MostTelling(const OpenAnswers& answers,
                                       const std::vector<bool>& is_open) {
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < is_open.size(); ++p) {
    if (is_open[p]) continue;
    if (!best.has_value() || answers.Reduction(p) > answers.Reduction(*best)) {
      best = p;
    }
  }
  return best;
}

std::string ReasonToRun(const OpenAnswers& answers, const QuestionPoints& asked,
                        std::size_t point) {
  const auto told = std::max_element(
      asked.questions.begin(), asked.questions.end(),
      [&](const OpenQuestion& a, const OpenQuestion& b) {
        return answers.Reduction(a, point) < answers.Reduction(b, point);
      });
  return told == asked.questions.end() ? "tells how good the plan is"
                                       : told->reason;
}

// A trial to run once more.
struct AgainTrial {
  std::size_t point;  // its place
  std::string reason;
};

// What rests on few trials is settled by these first. Each is run once more,
// whatever rests on it, unless that is already on its way.
std::deque<AgainTrial> RunAgain(const StudyBelief& belief,
                                const std::vector<FragileAdvice>& fragile,
                                QuestionPoints& asked) {
  std::deque<AgainTrial> again;
  for (const FragileAdvice& one : fragile) {
    for (const std::size_t trial : one.trials) {
      const std::size_t place = PlaceOf(asked.points, belief.ChoiceOf(trial));
      const bool is_known =
          std::count(asked.told.begin(), asked.told.end(), place) > 0 ||
          std::any_of(again.begin(), again.end(), [&](const AgainTrial& other) {
            return other.point == place;
          });
      if (is_known) continue;
      again.push_back(
          {place, absl::StrCat("runs trial ", belief.NumberOf(trial),
                               " again: that \"", one.says, "\" rests on it")});
    }
  }
  return again;
}

}  // namespace

std::vector<const Point*> OpenPoints(const Space& space,
                                     const History& history) {
  std::vector<const Point*> open;
  for (const Observation& trial : history.trials()) {
    if (IsTerminal(trial.state) || !space.Check(trial.point).ok()) continue;
    open.push_back(&trial.point);
  }
  return open;
}

absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const PlanBasis& basis, const std::vector<const Point*>& open,
    const PlanOptions& options, int count) {
  const StudyBelief& belief = basis.belief();
  RETURN_IF_ERROR(CheckCount(count));
  ASSIGN_OR_RETURN(const std::optional<OpenSet> open_set,
                   FindOpenSet(basis, options));
  const double tolerance = ToleranceInForce(basis, options);
  const PlanChoice plan = PlanPoint(basis.search(), tolerance);
  QuestionPoints asked = FindQuestions(basis.search(), plan, open);
  std::deque<AgainTrial> again = RunAgain(
      belief, FindFragileAdvice(basis, plan, tolerance, options.evaluate.stop),
      asked);
  if (open_set.has_value() && open_set->set != open_set->best) {
    asked.questions.push_back({PlaceOf(asked.points, open_set->best),
                               PlaceOf(asked.points, open_set->set),
                               "tells whether " + open_set->says});
  }
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  OpenAnswers answers(belief, asked);
  std::vector<bool> is_open(asked.points.size(), false);
  for (const std::size_t point : asked.told) {
    answers.Run(point);
    is_open[point] = true;
  }
  const double whole = answers.Uncertainty();
  std::vector<AskedTrial> trials;
  while (static_cast<int>(trials.size()) < count) {
    RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
    AskedTrial trial;
    std::optional<std::size_t> best;
    if (!again.empty()) {
      best = again.front().point;
      trial.reason = std::move(again.front().reason);
      again.pop_front();
    } else {
      best = MostTelling(answers, is_open);
      if (!best.has_value()) break;
      trial.reason = ReasonToRun(answers, asked, *best);
    }
    trial.point = basis.choices().PointOf(asked.points[*best]);
    answers.Run(*best);
    trial.expected_reduction =
        whole > 0.0 ? std::clamp(1.0 - answers.Uncertainty() / whole, 0.0, 1.0)
                    : 0.0;
    trials.push_back(std::move(trial));
  }
  return trials;
}

absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options, int count) {
  RETURN_IF_ERROR(CheckCount(count));
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(space, objectives, history, options));
  return AskTrials(*basis, OpenPoints(space, history), options, count);
}

namespace {

// The pooler, the head, or one of several tasks'.
bool StandsOnTheEncoder(const std::string& module) {
  return module == "pooler" || module == "head" || module.starts_with("head.");
}

// All modules that can be switched trained, or all but the head frozen.
std::optional<PlanChoice> AllOf(const PlanSearch& search,
                                const PlanChoice& plan, bool trained) {
  const auto& modules = search.choices().space().modules();
  const auto pairs = CompareFreezing(search, plan);
  Demands demands(modules.size(), Demand::kAny);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (!pairs[m].has_value()) continue;
    if (trained) {
      demands[m] = Demand::kTrained;
    } else if (!StandsOnTheEncoder(modules[m].module)) {
      demands[m] = Demand::kFrozen;
    }
  }
  return search.BestFrom(plan, demands);
}

}  // namespace

std::optional<PlanChoice> AllTrained(const PlanSearch& search,
                                     const PlanChoice& plan) {
  return AllOf(search, plan, true);
}

namespace {

struct NamedPoint {
  std::string name;
  PlanChoice choice;
};

std::vector<NamedPoint> FindRivals(const PlanSearch& search,
                                   const PlanChoice& plan) {
  const StudyBelief& belief = search.choices().belief();
  std::vector<NamedPoint> rivals = {{"plan", plan}};
  const auto add = [&](std::string name, std::optional<PlanChoice> choice) {
    if (!choice.has_value()) return;
    // Who cannot be trained is no rival.
    const auto& survival = belief.survival();
    if (survival.has_value() &&
        survival->IsBad(search.choices().PointOf(*choice))) {
      return;
    }
    for (const NamedPoint& other : rivals) {
      if (other.choice == *choice) return;
    }
    rivals.push_back({std::move(name), *std::move(choice)});
  };
  add("best trial", belief.ChoiceOf(belief.BestTrial()));
  add("all trained", AllTrained(search, plan));
  add("head only", AllOf(search, plan, false));
  return rivals;
}

}  // namespace

absl::StatusOr<std::vector<Rival>> PlanRivals(const PlanBasis& basis,
                                              const PlanOptions& options) {
  const StudyBelief& belief = basis.belief();
  const Optimism& optimism = basis.optimism();
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const PlanChoice plan =
      PlanPoint(basis.search(), ToleranceInForce(basis, options));
  const PlanChoice best = belief.ChoiceOf(belief.BestTrial());
  std::vector<Rival> rivals;
  for (const NamedPoint& one : FindRivals(basis.search(), plan)) {
    RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
    // As MakePlan draws them, so that plan and rivals are told alike.
    const bool is_best = one.choice == best;
    const WorthDraws draws =
        DrawBesideBest(belief, is_best ? plan : one.choice);
    const std::vector<double> worths =
        WithoutOptimism(draws, is_best && plan != best ? 1 : 0, optimism);
    rivals.push_back({one.name, basis.choices().PointOf(one.choice),
                      PredictMean(belief, worths, optimism),
                      PredictRun(belief, worths, optimism)});
  }
  return rivals;
}

absl::StatusOr<std::vector<Rival>> PlanRivals(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options) {
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(space, objectives, history, options));
  return PlanRivals(*basis, options);
}

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
  contenders.reserve(rivals.size());
  for (const RivalRuns& rival : rivals) contenders.push_back(rival.seen);
  statistics::Question question;
  question.chance = chance;
  question.stop = stop;
  const statistics::Judged found = statistics::Compare(contenders, question);
  std::vector<BySeed> runs;
  runs.reserve(contenders.size());
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

// What became of a plan, in one sentence.

namespace {

std::string Number(double value) { return absl::StrFormat("%.3f", value); }

std::size_t RunsOf(const RivalRuns& rival) {
  std::size_t runs = 0;
  for (const statistics::Run& run : rival.seen.runs) {
    runs += !std::isnan(run.value);
  }
  return runs;
}

// Says whether the 80 % interval held that was predicted of the mean, or of one
// run if there is one.
std::string AsPredicted(const RivalRuns& plan, double seen) {
  const bool one = RunsOf(plan) == 1;
  const Interval& said = one ? plan.one_run : plan.predicted;
  if (std::isnan(said.lo80) || std::isnan(said.hi80)) return "";
  const char* const how = seen < said.lo80   ? "lower than predicted"
                          : seen > said.hi80 ? "higher than predicted"
                                             : "as predicted";
  return absl::StrCat(", ", how, " (", Number(said.lo80), " to ",
                      Number(said.hi80), ")");
}

// Above 0: the rival is better than the plan.
double GainOf(const Objective& objective, const JudgedRival& rival) {
  return -AsLoss(objective, rival.difference.value);
}

bool IsBeyondNoise(const JudgedRival& rival) {
  // One run of each says nothing of their points.
  return !std::isnan(rival.seed_noise) && rival.adjusted_p < statistics::kLevel;
}

std::string AgainstRivals(const Objective& objective,
                          const std::vector<RivalRuns>& rivals,
                          const Verification& judged) {
  std::string better, worse;
  for (std::size_t r = 1; r < rivals.size(); ++r) {
    const JudgedRival& rival = judged.rivals[r];
    if (!IsBeyondNoise(rival)) continue;
    const double gain = GainOf(objective, rival);
    std::string& list = gain > 0.0 ? better : worse;
    // "head only" is a name.
    absl::StrAppend(&list, list.empty() ? "\"" : ", \"", rivals[r].seen.name,
                    "\" by ", Number(std::abs(gain)));
  }
  if (!better.empty()) return absl::StrCat("; better than it: ", better);
  if (std::isnan(judged.seed_deviation)) {
    return "; with so few runs the noise of seeds is not known";
  }
  if (worse.empty()) return "; no rival differs from it by more than noise";
  return absl::StrCat("; no rival is better by more than noise, and it beats ",
                      worse);
}

std::string WhatWasRun(const std::vector<RivalRuns>& rivals) {
  const bool is_plan = rivals.empty() || rivals[0].seen.name == "plan";
  return is_plan ? "the plan" : rivals[0].seen.name;
}

}  // namespace

std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged) {
  if (rivals.empty() || std::isnan(judged.rivals[0].seen.value)) {
    return absl::StrCat("no run of ", WhatWasRun(rivals), " has a result");
  }
  const double seen = judged.rivals[0].seen.value;
  const std::size_t runs = RunsOf(rivals[0]);
  std::string text = absl::StrCat(
      WhatWasRun(rivals), " scored ", Number(seen), " (",
      runs == 1 ? "one run" : absl::StrCat("mean of ", runs, " runs"), ")",
      AsPredicted(rivals[0], seen));
  if (rivals.size() > 1) {
    absl::StrAppend(&text, AgainstRivals(objective, rivals, judged));
  }
  return text;
}

}  // namespace frostline::importance
