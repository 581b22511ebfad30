// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

TEST(Ids, NamesGoThereAndBack) {
  EXPECT_EQ(*ParseStudyName(StudyNameOf("imdb")), "imdb");
  EXPECT_EQ(*ParseWorkerName(WorkerNameOf("gpu03-0")), "gpu03-0");
  const TrialName trial = *ParseTrialName(TrialNameOf("a.b", 17));
  EXPECT_EQ(trial.study_id, "a.b");
  EXPECT_EQ(trial.number, 17);
}

TEST(Ids, WhatCouldLeaveAFolderOrForgeANameIsRefused) {
  for (const char* bad :
       {"", "..", "a..b", ".a", "-a", "_a", "A", "a/b", "a b", "a\n", "ä",
        "a%2e",
        "0123456789012345678901234567890123456789012345678901234567890"
        "12345"}) {
    EXPECT_THAT(CheckId(bad, "study_id"),
                FailsAt(ErrorId::kNameInvalid, "study_id"))
        << bad;
  }
}

TEST(Ids, MalformedTrialNamesAreRefused) {
  for (const char* bad :
       {"", "studies/a", "studies/a/trials/", "studies/a/trials/-1",
        "studies/a/trials/1x", "studies/a/trials/01", "studies/a/trials/1/2",
        "studies/a/trials/99999999999999999999", "workers/a/trials/1"}) {
    EXPECT_THAT(ParseTrialName(bad), FailsWith(ErrorId::kNameInvalid)) << bad;
  }
}

TEST(Ids, RandomIdsDiffer) {
  EXPECT_EQ(RandomHexId().size(), 32u);
  EXPECT_NE(RandomHexId(), RandomHexId());
}

TEST(RequestId, IsNeverDrawnTwice) {
  const FakeClock clock;
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(drawn.insert(NewRequestId(clock)).second);
  }
}

TEST(RequestId, DrawnLaterSortsLater) {
  FakeClock clock;
  std::string last = NewRequestId(clock);
  for (int i = 0; i < 1000; ++i) {
    clock.Advance(std::chrono::milliseconds(37));
    const std::string next = NewRequestId(clock);
    EXPECT_LT(last, next);
    EXPECT_EQ(next.size(), 32u);
    last = next;
  }
}

}  // namespace
}  // namespace frostline
