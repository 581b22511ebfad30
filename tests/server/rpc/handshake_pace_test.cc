// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/handshake_pace.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;

class HandshakePaceTest : public testing::Test {
 protected:
  // As many as may begin now.
  int Begin(int wanted) {
    int begun = 0;
    while (begun < wanted && pace_.MayBegin()) {
      pace_.NoteBegun(absl::StrCat("peer-", ++last_), now_);
      ++begun;
    }
    return begun;
  }
  void Wait(int ms) {
    now_ += milliseconds(ms);
    pace_.Forget(now_);
  }

  HandshakePace pace_{{.at_once = 4,
                       .patience = milliseconds(500),
                       .little_patience = milliseconds(20)}};
  SteadyTime now_{};
  int last_ = 0;
};

TEST_F(HandshakePaceTest, SoManyAreUnderWayAndOneThatEndsLetsOneBegin) {
  EXPECT_EQ(Begin(10'000), 4);
  pace_.NoteOver("peer-2");
  pace_.NoteOver("peer-2");
  pace_.NoteOver("a stranger");
  EXPECT_EQ(Begin(10'000), 1);
}

TEST_F(HandshakePaceTest, WhoTakesTooLongHoldsUpNobody) {
  EXPECT_EQ(Begin(10), 4);
  Wait(499);
  EXPECT_EQ(Begin(10), 0);
  Wait(1);
  EXPECT_EQ(Begin(10), 4);
}

TEST_F(HandshakePaceTest, AFleetOfThousandsIsLetInOneAfterTheOther) {
  int in = 0;
  for (int first = 1; in < 10'000; first += 4) {
    ASSERT_EQ(Begin(4), 4);
    for (int i = 0; i < 4; ++i)
      pace_.NoteOver(absl::StrCat("peer-", first + i));
    Wait(17);
    in += 4;
  }
  EXPECT_TRUE(pace_.IsIdle());
}

TEST_F(HandshakePaceTest, ThoseWhoNeverEndAreSoonForgottenAtOnce) {
  int begun = 0;
  for (int second = 0; second < 4; ++second) {
    for (int i = 0; i < 50; ++i, Wait(20)) begun += Begin(100);
  }
  // Three times four in the first second and a half, then 200 a second.
  EXPECT_GT(begun, 400);
  // A fleet that comes after them has its time again.
  for (int i = 0; i < 100; ++i) {
    Begin(1);
    pace_.NoteOver(absl::StrCat("peer-", last_));
  }
  Wait(20);
  EXPECT_EQ(Begin(100), 4);
  Wait(400);
  EXPECT_EQ(Begin(100), 0);
}

}  // namespace
}  // namespace frostline::server
