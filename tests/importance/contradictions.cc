// SPDX-License-Identifier: Apache-2.0
#include "tests/importance/contradictions.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/importance/trials.h"

namespace frostline::importance {
namespace {

double Clipped(double score) { return std::clamp(score, 0.0, 1.0); }

// Accuracies, of which a module adds what `worth` says once it is trained.
History Trained(const Space& space, int trials, std::vector<double> worth,
                double noise, std::uint64_t seed) {
  return UniformTrials(
      space, trials,
      [&](const Point& point, Rng& rng) {
        double score = 0.7;
        for (std::size_t m = 0; m < worth.size(); ++m) {
          score += point[m] > 0.0 ? worth[m] : 0.0;
        }
        return Clipped(score + noise * rng.Normal());
      },
      seed);
}

History Changed(const History& history,
                const std::function<void(Observation&)>& change) {
  History changed;
  for (Observation trial : history.trials()) {
    change(trial);
    changed.Put(std::move(trial));
  }
  return changed;
}

void Fail(Observation& trial) {
  trial.state = TrialState::kInfeasible;
  trial.values.clear();
}

const std::vector<Objective> kScores = {{"accuracy", Direction::kMaximize}};

using Maker = OddStudy (*)(std::uint64_t seed);

OddStudy Flat(std::uint64_t seed) {
  const Space space = Modules(5, 4);
  return {"nothing matters", space, kScores,
          Trained(space, 40, {}, 0.02, seed)};
}
OddStudy One(std::uint64_t seed) {
  const Space space = Modules(5, 4);
  return {"one module matters", space, kScores,
          Trained(space, 36, {0.0, 0.08}, 0.02, seed)};
}
OddStudy Two(std::uint64_t seed) {
  const Space space = Modules(7, 3);
  return {"two of seven matter", space, kScores,
          Trained(space, 100, {0.05, 0.0, 0.0, 0.08}, 0.01, seed)};
}
OddStudy Weak(std::uint64_t seed) {
  const Space space = Modules(6, 4);
  return {"noise above the signal", space, kScores,
          Trained(space, 60, {0.01, 0.01, 0.01, 0.01}, 0.05, seed)};
}
OddStudy Few(std::uint64_t seed) {
  const Space space = Modules(4, 4);
  return {"ten trials", space, kScores,
          Trained(space, 10, {0.1, 0.05}, 0.02, seed)};
}
OddStudy Substituting(std::uint64_t seed) {
  const Space space = Modules(5, 3);
  return {"modules stand in for each other", space, kScores,
          UniformTrials(
              space, 60,
              [](const Point& p, Rng& rng) {
                return Clipped(Substitutes(p) + 0.01 * rng.Normal());
              },
              seed)};
}
OddStudy Ties(std::uint64_t seed) {
  const Space space = Modules(3, 3);
  return {"equal but for one", space, kScores,
          Changed(Trained(space, 40, {}, 0.0, seed), [&](Observation& trial) {
            if (trial.number == static_cast<std::int64_t>(seed % 40)) {
              trial.values[0] += 0.0001;
            }
          })};
}
OddStudy OnePoint(std::uint64_t seed) {
  const Space space = Modules(3, 3);
  return {"one point over and over", space, kScores,
          Changed(Trained(space, 60, {}, 0.02, seed),
                  [](Observation& trial) { trial.point = {1, 2, 0}; })};
}
OddStudy TwoBad(std::uint64_t seed) {
  const Space space = Modules(4, 4);
  return {"two bad runs", space, kScores,
          Changed(Trained(space, 36, {}, 0.01, seed), [](Observation& trial) {
            const bool is_bad = trial.number == 7 || trial.number == 19;
            trial.point[2] = is_bad ? 0.0 : std::max(trial.point[2], 1.0);
            if (is_bad) trial.values[0] = 0.5;
          })};
}
OddStudy Diverging(std::uint64_t seed) {
  const Space space = Modules(3, 3);
  return {
      "one module diverges if trained", space, kScores,
      Changed(Trained(space, 60, {0.05}, 0.01, seed), [](Observation& trial) {
        if (trial.point[1] > 0.0) Fail(trial);
      })};
}
OddStudy Wild(std::uint64_t seed) {
  const Space space = Modules(4, 4);
  return {
      "a wild value", space, kScores,
      Changed(Trained(space, 60, {0.1}, 0.02, seed), [](Observation& trial) {
        if (trial.number == 11) trial.values[0] = 1.3;
      })};
}
OddStudy Wide(std::uint64_t seed) {
  const Space space = Modules(26, 4);
  return {"26 modules at 30 trials", space, kScores,
          Trained(space, 30, {0.05, 0.0, 0.05}, 0.01, seed)};
}
OddStudy Percent(std::uint64_t seed) {
  const Space space = Modules(4, 4);
  return {"percent", space, kScores,
          Changed(Trained(space, 50, {0.1, 0.05}, 0.02, seed),
                  [](Observation& trial) { trial.values[0] *= 100.0; })};
}
OddStudy Frozen(std::uint64_t seed) {
  const Space space = Modules(5, 3);
  return {"a module that all trials froze", space, kScores,
          NeverTrained(Trained(space, 60, {0.0, 0.08}, 0.02, seed), 3)};
}
OddStudy Losses(std::uint64_t seed) {
  const Space space = Modules(4, 4);
  return {"losses, three of them huge",
          space,
          {{"loss", Direction::kMinimize}},
          Changed(UniformTrials(
                      space, 60,
                      [](const Point& p, Rng& rng) {
                        return 1.0 - 0.05 * p[0] + 0.02 * rng.Normal();
                      },
                      seed),
                  [](Observation& trial) {
                    if (trial.number % 20 == 3) trial.values[0] = 1e6;
                  })};
}

constexpr Maker kKinds[] = {Flat,         One,  Two,      Weak,   Few,
                            Substituting, Ties, OnePoint, TwoBad, Diverging,
                            Wild,         Wide, Percent,  Frozen, Losses};

bool Holds(const Interval& interval) {
  return std::isnan(interval.value) ||
         (interval.lo95 <= interval.lo80 && interval.lo80 <= interval.value &&
          interval.value <= interval.hi80 && interval.hi80 <= interval.hi95);
}

// Collects what is wrong.
class Judge {
 public:
  void Say(bool wrong, const std::string& sentence) {
    if (wrong) found_.push_back(sentence);
  }
  std::vector<std::string> Take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

void JudgeReportAlone(const WholeAnswer& answer, Judge& judge) {
  const auto& parameters = answer.report.parameters;
  const bool any =
      std::any_of(parameters.begin(), parameters.end(),
                  [](const auto& one) { return one.distinguishable; });
  const bool settled = answer.stability.state == StabilityState::kSettled;
  judge.Say(settled && !any, "settled, and nothing is told from chance");
  judge.Say(settled && absl::StrContains(answer.verdict, "not certain"),
            "settled, and a rank is not certain");
  judge.Say(!any && absl::StrContains(answer.verdict, " most"),
            "somebody leads, and nothing is told from chance");
  for (const ParameterImportance& one : parameters) {
    judge.Say(!Holds(one.main), "a share outside of its interval");
    judge.Say(one.main.lo95 < 0.0 || one.main.hi95 > 1.0, "no share");
  }
}

void JudgePlanAlone(const WholeAnswer& answer, Judge& judge) {
  const StudyPlan& plan = answer.plan;
  const bool nothing = std::any_of(
      plan.warnings.begin(), plan.warnings.end(),
      [](const auto& one) { return one.code == "NOTHING_EXPLAINED"; });
  judge.Say(!Holds(plan.predicted_score), "a score outside of its interval");
  for (const PlannedModule& one : plan.modules) {
    judge.Say(nothing && one.advice == Advice::kTrain,
              absl::StrCat("no effect can be told from noise, and train ",
                           one.module));
    judge.Say(one.advice == Advice::kFreeze && !one.freeze,
              "freeze what the plan trains");
    judge.Say(one.advice == Advice::kTrain && one.freeze,
              "train what the plan freezes");
    if (std::isnan(one.freeze_probability)) continue;
    judge.Say((one.freeze_probability >= kSureEnough) !=
                  (one.cost_of_freezing.hi80 <= plan.tolerance),
              "freezing is safe, and its cost is not, or the other way round");
  }
}

void JudgeTogether(const OddStudy& study, const WholeAnswer& answer,
                   Judge& judge) {
  const Frontier& frontier = answer.frontier;
  judge.Say(frontier.tolerance != answer.plan.tolerance, "two tolerances");
  const FrontierSet* const chosen =
      frontier.chosen < 0
          ? nullptr
          : &frontier.by_modules[static_cast<std::size_t>(frontier.chosen)];
  const bool none_told = absl::StrContains(answer.verdict, "told from chance");
  for (const PlannedModule& one : answer.plan.modules) {
    judge.Say(none_told && one.advice == Advice::kTrain,
              absl::StrCat("nothing matters, and train ", one.module));
    if (chosen == nullptr || one.advice != Advice::kTrain) continue;
    judge.Say(std::count(chosen->trained.begin(), chosen->trained.end(),
                         one.module) == 0,
              absl::StrCat("train ", one.module, ", and a set without it is ",
                           "enough"));
  }
  const auto range = study.objectives[0].direction == Direction::kMaximize;
  judge.Say(range && frontier.best.value > 1.0 &&
                answer.plan.predicted_score.value <= 1.0,
            "two ranges");
}

}  // namespace

OddStudy MakeOddStudy(std::uint64_t seed) {
  return kKinds[seed % std::size(kKinds)](seed);
}

absl::StatusOr<WholeAnswer> AnswerAll(const OddStudy& study) {
  WholeAnswer answer;
  ASSIGN_OR_RETURN(answer.report,
                   Evaluate(study.space, study.objectives, study.history, {}));
  answer.stability = JudgeReport(study.space, answer.report);
  answer.verdict = ReportVerdict(study.space, answer.report);
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(study.space, study.objectives, study.history,
                                 PlanOptions{}));
  ASSIGN_OR_RETURN(answer.plan, MakePlan(*basis, PlanOptions{}));
  ASSIGN_OR_RETURN(answer.frontier, MakeFrontier(*basis, PlanOptions{}));
  return answer;
}

std::vector<std::string> FindContradictions(const OddStudy& study,
                                            const WholeAnswer& answer) {
  Judge judge;
  JudgeReportAlone(answer, judge);
  JudgePlanAlone(answer, judge);
  JudgeTogether(study, answer, judge);
  return judge.Take();
}

}  // namespace frostline::importance
