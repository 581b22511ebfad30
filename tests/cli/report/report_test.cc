// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/report/compose.h"
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
