// SPDX-License-Identifier: Apache-2.0
#include "cli/report/compose.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/report/ranked_points.h"
#include "cli/report/trial_figures.h"
#include "cli/report/trial_scores.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "cli/view/plan_view.h"
#include "cli/view/study_view.h"
#include "cli/view/svg.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

// Returns the numbers of the plan's runs; none when something else was run in
// its place.
std::vector<std::string> NumbersOfRuns(
    const v1::PlanVerification& verification) {
  std::vector<std::string> numbers;
  if (verification.rivals().empty()) return numbers;
  const v1::VerifiedRival& first = verification.rivals(0);
  if (first.name() != "plan") return numbers;
  for (const v1::VerifiedRun& run : first.runs()) {
    numbers.push_back(LastPart(run.trial()));
  }
  return numbers;
}

const v1::Trial* FindTrial(const StudyRecord& record,
                           const std::string& number) {
  for (const v1::Trial& trial : record.trials.trials()) {
    if (absl::StrCat(trial.number()) == number) return &trial;
  }
  return nullptr;
}

// Returns the first trial at the point of `run`, by number.
const v1::Trial& FirstAtPointOf(const StudyRecord& record,
                                const v1::Trial& run) {
  const auto& trials = record.trials.trials();
  const std::string point = PointKeyOf(run);
  const auto found = std::find_if(
      trials.begin(), trials.end(),
      [&point](const v1::Trial& trial) { return PointKeyOf(trial) == point; });
  return found == trials.end() ? run : *found;
}

}  // namespace

std::string EarlierPlanWords(const StudyRecord& record) {
  if (!record.plan || !record.verification) return "";
  const auto runs = NumbersOfRuns(*record.verification);
  const v1::Trial* const run =
      runs.empty() ? nullptr : FindTrial(record, runs[0]);
  if (run == nullptr ||
      PointKeyOf(record.plan->as_trial()) == PointKeyOf(*run)) {
    return "";
  }
  const v1::Trial& first = FirstAtPointOf(record, *run);
  const bool is_new = first.number() == run->number();
  return absl::StrCat(
      "the plan as it was, ",
      !is_new ? absl::StrCat("the point of trial ", first.number())
      : runs.size() > 1
          ? absl::StrCat("run as trials ", absl::StrJoin(runs, ", "))
          : absl::StrCat("run as trial ", runs[0]));
}

namespace {

void AddFigure(const char* name, const std::string& caption, std::string svg,
               ReportSection& section) {
  if (svg.empty()) return;
  section.figures.push_back({name, caption, std::move(svg)});
}

bool IsEmpty(const ReportSection& section) {
  return section.paragraphs.empty() && section.figures.empty() &&
         section.tables.empty() && section.verbatim.empty();
}

// Returns "MiniLM on imdb; accuracy, to be maximized".
std::string AboutText(const v1::StudySpec& spec) {
  std::vector<std::string> data;
  if (!spec.data().id().empty()) data.push_back(spec.data().id());
  for (const v1::TaskSpec& task : spec.tasks()) {
    data.push_back(absl::StrCat(task.name(), " (", task.data().id(), ")"));
  }
  std::vector<std::string> objectives;
  for (const v1::Objective& objective : spec.objectives()) {
    objectives.push_back(absl::StrCat(
        objective.metric(), objective.direction() == v1::DIRECTION_MINIMIZE
                                ? ", to be minimized"
                                : ", to be maximized"));
  }
  return absl::StrCat(spec.model().id(), " on ", absl::StrJoin(data, ", "),
                      "; ", absl::StrJoin(objectives, "; "));
}

std::vector<std::string> LinesBelowTitle(const StudyRecord& record) {
  const v1::Study& study = record.study;
  std::vector<std::string> lines = {AboutText(study.spec())};
  lines.push_back(absl::StrCat(NameOf(study.state()), ", ", ProgressText(study),
                               ", revision ", study.revision()));
  if (!study.spec().recipe().empty()) {
    lines.push_back(absl::StrCat("recipe ", study.spec().recipe()));
  }
  return lines;
}

// Says which plan was run. If that was an earlier plan, each plan is named as
// what it is.
void SayPlans(const StudyRecord& record,
              const std::function<void(const std::string&)>& say) {
  const std::string earlier = EarlierPlanWords(record);
  const bool changed = !earlier.empty();
  if (record.verification) {
    say(changed
            ? absl::StrCat("Of ", earlier, ": ", record.verification->verdict())
            : record.verification->verdict());
  }
  if (record.plan) {
    say(changed
            ? absl::StrCat("Of the plan as it is now: ", record.plan->verdict())
            : record.plan->verdict());
    say(absl::StrCat(
        "Predicted ", FirstObjective(record).metric(),
        " of that plan: ", WithInterval(record.plan->predicted_score()),
        " over seeds; one run ", NumberInterval(record.plan->one_run()), "."));
  }
}

ReportSection VerdictSection(const StudyRecord& record) {
  ReportSection section = {.heading = "Verdict"};
  const auto say = [&section](const std::string& sentence) {
    if (!sentence.empty()) section.paragraphs.push_back(sentence);
  };
  SayPlans(record, say);
  say(BestTrialSentence(record));
  if (record.importance) say(record.importance->verdict());
  for (const std::string& warning : record.study.warnings()) say(warning);
  if (record.plan) {
    for (const v1::Warning& warning : record.plan->warnings()) {
      say(warning.sentence());
    }
  }
  for (const std::string& sentence : record.missing) say(sentence);
  return section;
}

ReportSection PlanSection(const StudyRecord& record) {
  ReportSection section = {.heading = "What to train, and how fast"};
  if (record.plan) section.tables.push_back(PlanTable(*record.plan));
  if (record.verification) {
    v1::PlanVerification told = *record.verification;
    if (const std::string earlier = EarlierPlanWords(record);
        !earlier.empty()) {
      told.set_verdict(absl::StrCat("of ", earlier, ": ", told.verdict()));
    }
    section.verbatim = RenderVerificationInShort(told, kVerbatimWidth);
  }
  return section;
}

ReportSection ImportanceSection(const StudyRecord& record) {
  ReportSection section = {.heading = "What mattered"};
  if (!record.importance) return section;
  AddFigure("importance",
            "Share of the variance that each module explains, with its 80 and "
            "95 % intervals.",
            ImportanceSvg(*record.importance), section);
  section.tables.push_back(ImportanceTable(*record.importance));
  return section;
}

ReportSection FrontierSection(const StudyRecord& record) {
  ReportSection section = {.heading = "The least to train"};
  if (!record.frontier) return section;
  section.paragraphs.push_back(record.frontier->verdict());
  AddFigure("frontier", "Predicted score of each set of trained modules.",
            FrontierSvg(*record.frontier), section);
  section.tables.push_back(FrontierTable(*record.frontier));
  return section;
}

ReportSection TrialsSection(const StudyRecord& record) {
  ReportSection section = {.heading = "Trials"};
  AddFigure("rates", "The rate of every module in every trial.",
            RateMapSvg(record), section);
  AddFigure("trade-off",
            "Score against trained parameters and against seconds.",
            TradeOffSvg(record), section);
  AddFigure("curves", "Learning curves of the best trials.", CurvesSvg(record),
            section);
  if (!record.trials.trials().empty()) {
    section.tables.push_back(TrialsTable(record));
  }
  return section;
}

ReportSection CostSection(const StudyRecord& record) {
  return {.heading = "What it cost",
          .verbatim = UsageLines(record.study.usage())};
}

ReportSection HowSection(const StudyRecord& record) {
  const v1::StudySpec& spec = record.study.spec();
  ReportSection section = {.heading = "How it was made"};
  std::string text = KeyLine("sampler", record.study.resolved_sampler().empty()
                                            ? spec.sampler().name()
                                            : record.study.resolved_sampler());
  text += KeyLine("seed", absl::StrCat(spec.seed()));
  for (const v1::Trial& trial : record.trials.trials()) {
    if (trial.usage().software().empty()) continue;
    text += KeyLine("trainer", trial.usage().software());
    text += KeyLine("device", trial.usage().device());
    text += KeyLine("precision", trial.usage().precision());
    break;
  }
  if (record.importance) {
    text +=
        KeyLine("evaluator",
                absl::StrCat(record.importance->options().evaluator(),
                             ", seed ", record.importance->options().seed()));
  }
  section.verbatim = std::move(text);
  return section;
}

}  // namespace

ReportPage ComposeReport(const StudyRecord& record) {
  ReportPage page;
  page.title = absl::StrCat("Study ", LastPart(record.study.name()));
  page.lines = LinesBelowTitle(record);
  for (ReportSection section :
       {VerdictSection(record), PlanSection(record), ImportanceSection(record),
        FrontierSection(record), TrialsSection(record), CostSection(record),
        HowSection(record)}) {
    if (!IsEmpty(section)) page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace frostline::cli
