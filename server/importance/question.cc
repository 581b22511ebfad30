// SPDX-License-Identifier: Apache-2.0
#include "server/importance/question.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "server/wire/filter.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostNamesShown = 40;

Objective ObjectiveOf(const std::string& metric, v1::Direction asked,
                      const CheckedStudy& study) {
  Objective found{metric, Direction::kMinimize};
  for (const Objective& objective : study.objectives) {
    if (objective.metric == metric) found = objective;  // and its range
  }
  if (asked == v1::DIRECTION_MAXIMIZE) found.direction = Direction::kMaximize;
  if (asked == v1::DIRECTION_MINIMIZE) found.direction = Direction::kMinimize;
  return found;
}

absl::Status CheckAsked(const v1::ImportanceOptions& asked,
                        const CheckedStudy& study) {
  if (asked.at_step() < 0) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("at_step is ", asked.at_step()),
        "give a step from 1, or 0 for final values", "options.at_step");
  }
  if (!v1::Direction_IsValid(asked.target_direction())) {
    return MakeError(ErrorId::kRequestInvalid, "there is no such direction",
                     "use DIRECTION_MINIMIZE or DIRECTION_MAXIMIZE",
                     "options.target_direction");
  }
  for (int i = 0; i < asked.parameters_size(); ++i) {
    RETURN_IF_ERROR(FindParameter(study.space, asked.parameters(i),
                                  absl::StrCat("options.parameters[", i, "]"))
                        .status());
  }
  return TrialFilter::Parse(asked.filter(), NamesOf(study)).status();
}

bool LooksAtLabels(const std::string& filter, const CheckedStudy& study) {
  const auto parsed = TrialFilter::Parse(filter, NamesOf(study));
  return parsed.ok() &&
         std::any_of(parsed->terms().begin(), parsed->terms().end(),
                     [](const FilterTerm& term) {
                       return term.field.starts_with("labels.");
                     });
}

absl::StatusOr<importance::NamedSubsets> FindSubsets(
    const v1::ImportanceOptions& asked, const Space& space) {
  importance::NamedSubsets subsets;
  subsets.reserve(static_cast<std::size_t>(asked.subsets_size()));
  for (int s = 0; s < asked.subsets_size(); ++s) {
    const std::string field = absl::StrCat("options.subsets[", s, "]");
    std::vector<int>& subset = subsets.emplace_back();
    for (const std::string& name : asked.subsets(s).parameters()) {
      ASSIGN_OR_RETURN(const int parameter, FindParameter(space, name, field));
      if (std::count(subset.begin(), subset.end(), parameter) > 0) {
        return MakeError(ErrorId::kRequestInvalid,
                         absl::StrCat("\"", name, "\" is named twice in a set"),
                         "name each parameter once", field);
      }
      subset.push_back(parameter);
    }
  }
  RETURN_IF_ERROR(importance::CheckSubsets(subsets, space.parameters().size()));
  return subsets;
}

}  // namespace

absl::StatusOr<ImportanceQuestion> MakeQuestion(
    const v1::ImportanceOptions& asked, const CheckedStudy& study) {
  RETURN_IF_ERROR(CheckAsked(asked, study));
  ImportanceQuestion question;
  question.used = asked;
  question.used.clear_parameters();
  question.by_labels = LooksAtLabels(asked.filter(), study);
  v1::ImportanceOptions& used = question.used;
  importance::EvaluateOptions& options = question.options;
  if (used.target().empty()) used.set_target(study.objectives[0].metric);
  if (used.evaluator().empty()) used.set_evaluator(options.evaluator);
  if (used.seed() == 0) used.set_seed(study.spec.seed());
  if (used.trees() == 0) used.set_trees(options.trees);
  if (used.bootstraps() == 0) used.set_bootstraps(options.bootstraps);
  if (used.without_intervals()) used.set_bootstraps(0);
  const Objective target =
      ObjectiveOf(used.target(), used.target_direction(), study);
  used.set_target_direction(target.direction == Direction::kMaximize
                                ? v1::DIRECTION_MAXIMIZE
                                : v1::DIRECTION_MINIMIZE);
  question.objectives = {target};
  if (!used.best_by().empty() && used.best_by() != used.target()) {
    question.objectives.push_back(
        ObjectiveOf(used.best_by(), v1::DIRECTION_UNSPECIFIED, study));
  }
  options.evaluator = used.evaluator();
  options.target = used.target();
  options.best_by = used.best_by();
  if (used.top_quantile() != 0.0) options.top_quantile = used.top_quantile();
  options.seed = used.seed();
  options.trees = used.trees();
  options.bootstraps = used.bootstraps();
  options.pairs = !used.without_pairs();
  ASSIGN_OR_RETURN(options.subsets, FindSubsets(asked, study.space));
  const v1::PedAnovaOptions& ped = used.ped_anova();
  if (ped.target_quantile() != 0.0) {
    options.ped_anova.target_quantile = ped.target_quantile();
  }
  options.ped_anova.conditional = !ped.leave_out_partial();
  options.ped_anova.local = !ped.whole_space();
  return question;
}

std::string ListOf(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  const bool cut = shown.size() > kMostNamesShown;
  if (cut) shown.resize(kMostNamesShown);
  return absl::StrCat(absl::StrJoin(shown, ", "), cut ? ", …" : "");
}

absl::StatusOr<int> FindParameter(const Space& space, const std::string& name,
                                  const std::string& field) {
  if (const std::optional<int> found = space.IndexOf(name)) return *found;
  std::set<std::string> names;
  for (const Parameter& parameter : space.parameters()) {
    names.insert(parameter.name);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the space has no parameter \"", name, "\""),
                   absl::StrCat("there are: ", ListOf(names)), field);
}

std::string KeyOf(const ImportanceQuestion& question) {
  // There are no maps in it: always the same bytes.
  return question.used.SerializeAsString();
}

}  // namespace frostline::server
