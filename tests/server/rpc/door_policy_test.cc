// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/door_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PeerAddress Ipv4(const char* host) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(4321);
  inet_pton(AF_INET, host, &in.sin_addr);
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof(in));
  return PeerAddressOf(address);
}

PeerAddress Ipv6(const char* host) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(4321);
  inet_pton(AF_INET6, host, &in.sin6_addr);
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof(in));
  return PeerAddressOf(address);
}

PeerAddress Unix() {
  sockaddr_storage address{};
  address.ss_family = AF_UNIX;
  return PeerAddressOf(address);
}

TEST(PeerAddressTest, IsWhatGrpcCallsIt) {
  EXPECT_EQ(Ipv4("10.0.0.7").text, "ipv4:10.0.0.7:4321");
  EXPECT_EQ(Ipv6("2001:db8::7").text, "ipv6:%5B2001:db8::7%5D:4321");
  EXPECT_EQ(Ipv6("::ffff:10.0.0.7").text, "ipv4:10.0.0.7:4321");
  EXPECT_EQ(Unix().text, "unix:");
}

TEST(PeerAddressTest, HasOneHouseForAllThatOneMachineMayChooseFrom) {
  EXPECT_NE(Ipv4("10.0.0.7").house, Ipv4("10.0.0.8").house);
  EXPECT_EQ(Ipv4("10.0.0.7").house, Ipv6("::ffff:10.0.0.7").house);
  EXPECT_EQ(Ipv6("2001:db8::7").house, Ipv6("2001:db8::ffff:8").house);
  EXPECT_NE(Ipv6("2001:db8::7").house, Ipv6("2001:db8:0:1::7").house);
  for (const PeerAddress& local :
       {Ipv4("127.0.0.1"), Ipv4("127.9.9.9"), Ipv6("::1"), Unix()}) {
    EXPECT_TRUE(local.is_local) << local.text;
    EXPECT_EQ(local.house, Unix().house) << local.text;
  }
  EXPECT_FALSE(Ipv4("128.0.0.1").is_local);
}

class DoorPolicyTest : public ::testing::Test {
 protected:
  // How many of `count` come in.
  int Admit(DoorPolicy& policy, const PeerAddress& from, int count) const {
    int admitted = 0;
    for (int i = 0; i < count; ++i) {
      if (policy.Judge(from, now_) != DoorVerdict::kWelcome) continue;
      policy.NoteAdmitted(from, now_);
      ++admitted;
    }
    return admitted;
  }

  SteadyTime now_ = seconds(100);
  const PeerAddress here_ = Ipv4("127.0.0.1");
  const PeerAddress far_ = Ipv4("10.0.0.7");
  const PeerAddress other_ = Ipv4("10.0.0.8");
};

TEST_F(DoorPolicyTest, CapsAllTogether) {
  DoorPolicy policy({.connections = 5, .local = 5});
  EXPECT_EQ(Admit(policy, far_, 3), 3);
  EXPECT_EQ(Admit(policy, here_, 3), 2);
  EXPECT_EQ(policy.Judge(other_, now_), DoorVerdict::kFull);
  policy.NoteGone(far_);
  EXPECT_EQ(Admit(policy, other_, 3), 1);
  EXPECT_EQ(policy.connections(), 5U);
}

TEST_F(DoorPolicyTest, CapsEachHouseAndThisMachineByItsOwnNumber) {
  DoorPolicy policy({.connections = 100, .per_address = 4});
  EXPECT_EQ(Admit(policy, far_, 10), 4);
  EXPECT_EQ(policy.Judge(far_, now_), DoorVerdict::kAddressFull);
  EXPECT_EQ(Admit(policy, other_, 10), 4);
  EXPECT_EQ(Admit(policy, here_, 100), 75);
  EXPECT_EQ(policy.Judge(Unix(), now_), DoorVerdict::kAddressFull);
  policy.NoteGone(far_);
  EXPECT_EQ(Admit(policy, far_, 10), 1);
}

TEST_F(DoorPolicyTest, LetsSoManyInASecondOfOneHouseAlone) {
  DoorPolicy policy(
      {.connections = 1000, .rate = {.per_second = 10, .at_once = 20}});
  EXPECT_EQ(Admit(policy, far_, 50), 20);
  EXPECT_EQ(policy.Judge(far_, now_), DoorVerdict::kTooFast);
  EXPECT_EQ(Admit(policy, other_, 1), 1);
  now_ += milliseconds(500);
  EXPECT_EQ(Admit(policy, far_, 50), 5);
  now_ += seconds(60);
  EXPECT_EQ(Admit(policy, far_, 50), 20);  // it saves up no more
  EXPECT_EQ(Admit(policy, here_, 500), 500);
}

TEST_F(DoorPolicyTest, BarsAHouseThatWasCutButNotThisMachine) {
  DoorPolicy policy({.connections = 10, .barred = seconds(10)});
  policy.NoteCut(far_, now_);
  policy.NoteCut(here_, now_);
  EXPECT_EQ(policy.Judge(far_, now_), DoorVerdict::kBarred);
  EXPECT_EQ(policy.Judge(other_, now_), DoorVerdict::kWelcome);
  EXPECT_EQ(policy.Judge(here_, now_), DoorVerdict::kWelcome);
  now_ += seconds(10);
  EXPECT_EQ(policy.Judge(far_, now_), DoorVerdict::kWelcome);
}

TEST_F(DoorPolicyTest, RemembersNoHouseForLongerThanItMatters) {
  DoorPolicy policy(
      {.connections = 10'000, .rate = {.per_second = 10, .at_once = 20}});
  for (int i = 0; i < 1000; ++i) {
    const auto from =
        Ipv4(("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250))
                 .c_str());
    Admit(policy, from, 2);
    policy.NoteGone(from);
    if (i != 7) policy.NoteGone(from);
  }
  policy.NoteCut(other_, now_);
  policy.Forget(now_);
  EXPECT_EQ(policy.houses(), 1001U);
  now_ += seconds(1);
  policy.Forget(now_);
  EXPECT_EQ(policy.houses(), 2U);  // one is in, one is barred
  now_ += seconds(60);
  policy.Forget(now_);
  EXPECT_EQ(policy.houses(), 1U);
}

TEST_F(DoorPolicyTest, LeavesDescriptorsForWhatElseThereIs) {
  EXPECT_EQ(ConnectionsFor(20'000, 40), 20'000U - 40 - 256);
  EXPECT_EQ(ConnectionsFor(256, 40), 256U - 40 - 64);
  EXPECT_EQ(ConnectionsFor(64, 40), 8U);
  EXPECT_EQ(ConnectionsFor(40, 40), 1U);
}

class ResetPolicyTest : public ::testing::Test {
 protected:
  bool IsFlood(std::int64_t started, std::int64_t answered) {
    return policy_.IsFlood("ipv4:10.0.0.7:1", seconds(100),
                           {.started = started, .answered = answered}, now_);
  }

  SteadyTime now_ = seconds(100);
  ResetPolicy policy_{{.per_second = 100, .at_once = 512}};
};

TEST_F(ResetPolicyTest, CutsWhoCancelsWithoutEnd) {
  now_ += milliseconds(250);
  EXPECT_FALSE(IsFlood(500, 0));
  now_ += milliseconds(250);
  EXPECT_TRUE(IsFlood(500 + 538, 0));
  now_ += milliseconds(250);
  EXPECT_FALSE(IsFlood(500 + 538 + 537, 0));  // it counts what is new
}

TEST_F(ResetPolicyTest, MindsNoCallThatIsAnswered) {
  now_ += milliseconds(250);
  EXPECT_FALSE(IsFlood(1'000'000, 1'000'000 - 256));
}

TEST_F(ResetPolicyTest, AllowsMoreToWhomItHasNotLookedAtForLong) {
  now_ += seconds(3600);
  EXPECT_FALSE(IsFlood(300'000, 0));  // polls given up in an hour
  now_ += milliseconds(250);
  EXPECT_TRUE(IsFlood(301'000, 0));
}

TEST_F(ResetPolicyTest, BeginsAnewForWhoHasTheNameNext) {
  now_ += seconds(1);
  EXPECT_TRUE(IsFlood(5'000, 0));
  policy_.NoteGone("ipv4:10.0.0.7:1");
  EXPECT_FALSE(IsFlood(300, 0));
}

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
