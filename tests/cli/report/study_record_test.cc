// SPDX-License-Identifier: Apache-2.0
#include "cli/report/study_record.h"

#include <google/protobuf/util/message_differencer.h>

#include <cmath>

#include "tests/cli/report/small_record.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

bool Same(const google::protobuf::Message& a,
          const google::protobuf::Message& b) {
  google::protobuf::util::MessageDifferencer compare;
  google::protobuf::util::DefaultFieldComparator fields;
  fields.set_treat_nan_as_equal(true);
  compare.set_field_comparator(&fields);
  return compare.Compare(a, b);
}

TEST(StudyRecord, IsReadAsItWasWritten) {
  const StudyRecord record = SmallRecord();
  ASSERT_OK_AND_ASSIGN(const StudyRecord again, ReadRecord(ToText(record)));
  EXPECT_TRUE(Same(again.study, record.study));
  EXPECT_TRUE(Same(again.trials, record.trials));
  EXPECT_TRUE(Same(again.curves.at(1), record.curves.at(1)));
  EXPECT_TRUE(Same(*again.plan, *record.plan));
  EXPECT_EQ(again.trials.trials(1).usage().trained_parameters(), 60);
  EXPECT_EQ(again.trials.trials(0).rates(1).rate(), 1e-3);
  EXPECT_TRUE(
      std::isnan(again.curves.at(1).measurements(0).metrics().at("odd")));
  EXPECT_TRUE(again.plan.has_value());
  EXPECT_FALSE(again.frontier.has_value());
  EXPECT_THAT(again.missing,
              testing::ElementsAre("No importance: too few trials."));
}

TEST(StudyRecord, AnotherFileIsRefused) {
  for (const std::string text :
       {"", "no JSON", "{}", R"({"frostline_report": 1})",
        R"({"frostline_report": 1, "study": 3, "trials": {}})",
        R"({"frostline_report": 1, "study": {"nam": ""}, "trials": {}})"}) {
    EXPECT_THAT(ReadRecord(text).status(), FailsWith(ErrorId::kRequestInvalid))
        << text;
  }
}

TEST(StudyRecord, OfALaterVersionSaysSo) {
  const auto later =
      ReadRecord(R"({"frostline_report": 2, "study": {}, "trials": {}})");
  EXPECT_THAT(later.status(), FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(std::string(later.status().message()),
              testing::HasSubstr("later version"));
}

}  // namespace
}  // namespace frostline::cli
