// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_questions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "importance/plan/chosen_point.h"
#include "importance/plan/plan_basis.h"
#include "importance/plan/plan_request.h"
#include "importance/plan/question_points.h"
#include "surrogate/questions.h"

namespace frostline::importance {
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

// That which tells most of those that may be asked; nothing where there is
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
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const QuestionPoints asked = FindQuestions(
      basis.search(), PlanPoint(basis.search(), options.tolerance), open);
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
    const std::optional<std::size_t> best = MostTelling(answers, is_open);
    if (!best.has_value()) break;
    AskedTrial trial;
    trial.point = basis.choices().PointOf(asked.points[*best]);
    trial.reason = ReasonToRun(answers, asked, *best);
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

}  // namespace frostline::importance
