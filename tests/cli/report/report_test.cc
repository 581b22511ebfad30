// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/report/report_page.h"
#include "tests/cli/report/small_record.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string HtmlOf(const StudyRecord& record) {
  return ToHtml(ComposeReport(record));
}

TEST(Report, SaysTheVerdictFirst) {
  const ReportPage page = ComposeReport(SmallRecord());
  EXPECT_EQ(page.title, "Study films");
  ASSERT_FALSE(page.sections.empty());
  EXPECT_EQ(page.sections[0].heading, "Verdict");
  EXPECT_EQ(page.sections[0].paragraphs[0], "freeze layer.0, train layer.1");
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::Contains(HasSubstr("Best trial: 1, accuracy 0.9")));
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::Contains("No importance: too few trials."));
}

// The plan is that of trial 1; what was run, as trials 4 and 5, is another.
StudyRecord RunAndChanged(const std::vector<double>& run) {
  StudyRecord record = SmallRecord();
  auto& values = *record.plan->mutable_as_trial()->mutable_values();
  values["layer.0"].set_number_value(0.0);
  values["layer.1"].set_number_value(1e-3);
  v1::PlanVerification& seen = record.verification.emplace();
  seen.set_verdict("the plan scored 0.85 (mean of 2 runs)");
  v1::VerifiedRival& first = *seen.add_rivals();
  first.set_name("plan");
  for (const std::int64_t number : {4, 5}) {
    const v1::Trial& trial = *record.trials.add_trials() =
        TrialOf(number, 0.85, 60, 5.0, run);
    first.add_runs()->set_trial(trial.name());
  }
  return record;
}

TEST(Report, TellsThePlanThatWasRunFromThePlanAsItIs) {
  const StudyRecord of_a_trial = RunAndChanged({0.0, 1e-4});
  const ReportPage page = ComposeReport(of_a_trial);
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::IsSupersetOf(
                  {"Of the plan as it was, the point of trial 2: the plan "
                   "scored 0.85 (mean of 2 runs)",
                   "Of the plan as it is now: freeze layer.0, train layer.1"}));
  EXPECT_THAT(page.sections[1].verbatim,
              HasSubstr("of the plan as it was, the point of trial 2:"));
  EXPECT_THAT(HtmlOf(of_a_trial), HasSubstr("Of the plan as it is now"));
  EXPECT_THAT(ComposeReport(RunAndChanged({1e-4, 0.0})).sections[0].paragraphs,
              testing::Contains(HasSubstr(
                  "Of the plan as it was, run as trials 4, 5: the plan")));
}

TEST(Report, APlanThatIsAsItWasRunIsJustThePlan) {
  const ReportPage page = ComposeReport(RunAndChanged({0.0, 1e-3}));
  EXPECT_EQ(page.sections[0].paragraphs[0],
            "the plan scored 0.85 (mean of 2 runs)");
  EXPECT_EQ(page.sections[0].paragraphs[1], "freeze layer.0, train layer.1");
  // Nor is a trial that was applied in its place an earlier plan.
  StudyRecord applied = RunAndChanged({0.0, 1e-4});
  applied.verification->mutable_rivals(0)->set_name("trial 2");
  EXPECT_EQ(ComposeReport(applied).sections[0].paragraphs[1],
            "freeze layer.0, train layer.1");
}

TEST(Report, TheBestTrialsLuckStandsBesideTheMeanOfItsPoint) {
  EXPECT_THAT(ComposeReport(SmallRecord()).sections[0].paragraphs,
              testing::Contains("Best trial: 1, accuracy 0.9, as it was seen "
                                "in one run."));
  EXPECT_THAT(ComposeReport(RunAndChanged({0.0, 1e-3})).sections[0].paragraphs,
              testing::Contains("Best trial: 1, accuracy 0.9 in one run; its "
                                "point was run 3 times, with a mean accuracy "
                                "of 0.8667."));
}

TEST(Report, ARecordThatWasKeptGivesTheSameBytes) {
  const StudyRecord record = SmallRecord();
  ASSERT_OK_AND_ASSIGN(const StudyRecord kept, ReadRecord(ToText(record)));
  EXPECT_EQ(HtmlOf(kept), HtmlOf(record));
  EXPECT_EQ(ToMarkdown(ComposeReport(kept), "f"),
            ToMarkdown(ComposeReport(record), "f"));
}

TEST(Report, AnybodysTextIsNoMarkup) {
  StudyRecord record = SmallRecord();
  record.plan->set_verdict("<script>alert(1)</script> & *so* on");
  const std::string html = HtmlOf(record);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt; &amp;"));
  const std::string markdown = ToMarkdown(ComposeReport(record), "");
  EXPECT_THAT(markdown, HasSubstr("&lt;script>alert(1)"));
  EXPECT_THAT(markdown, HasSubstr("\\*so\\* on"));
  EXPECT_THAT(markdown, HasSubstr("< 0.01 \\| \"nothing\""));
}

TEST(Report, EveryTrialIsInItsTable) {
  const ReportPage page = ComposeReport(SmallRecord());
  const auto trials = std::find_if(
      page.sections.begin(), page.sections.end(),
      [](const ReportSection& s) { return s.heading == "Trials"; });
  ASSERT_NE(trials, page.sections.end());
  const ReportTable& table = trials->tables.at(0);
  EXPECT_THAT(table.columns,
              ElementsAre("trial", "state", "accuracy", "trained parameters",
                          "seconds", "seed", "layer.0", "layer.1"));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_THAT(table.rows[1], ElementsAre("1", "SUCCEEDED", "0.9", "60", "5",
                                         "7", "frozen", "0.001"));
  EXPECT_THAT(table.rows[3],
              ElementsAre("3", "FAILED", "", "", "", "7", "", ""));
  EXPECT_THAT(table.csv, HasSubstr("1,SUCCEEDED,0.9,60,5,7,0,0.001\r\n"));
}

TEST(Report, PicturesStandInHtmlAndBesideMarkdown) {
  const ReportPage page = ComposeReport(SmallRecord());
  EXPECT_THAT(ToHtml(page), HasSubstr("<svg xmlns="));
  EXPECT_THAT(ToMarkdown(page, "pictures"), HasSubstr("](pictures/rates.svg)"));
  EXPECT_THAT(ToMarkdown(page, ""), Not(HasSubstr(".svg")));
}

TEST(Report, OfAStudyWithoutTrialsSaysWhatThereIs) {
  StudyRecord record;
  record.study.set_name("studies/empty");
  const ReportPage page = ComposeReport(record);
  EXPECT_EQ(page.title, "Study empty");
  for (const ReportSection& section : page.sections) {
    EXPECT_TRUE(section.figures.empty());
    EXPECT_TRUE(section.tables.empty());
  }
}

}  // namespace
}  // namespace frostline::cli
