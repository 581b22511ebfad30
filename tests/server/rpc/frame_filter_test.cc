// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/frame_filter.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/server/rpc/raw_socket.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kDataFrame = 0;
constexpr int kHeadersFrame = 1;
constexpr int kPriorityFrame = 2;
constexpr int kSettingsFrame = 4;
constexpr int kPingFrame = 6;
constexpr int kWindowFrame = 8;
constexpr int kContinuationFrame = 9;
constexpr int kUnknownFrame = 0xbe;
constexpr int kEndHeaders = 0x4;

// What a client says that makes calls, waits for some and cancels others.
std::string LegitTraffic() {
  std::string traffic = HttpPreface() + AcknowledgeSettings();
  std::uint32_t stream = 1;
  for (int i = 0; i < 60; ++i, stream += 2) {
    traffic += BeginCall(stream);
    traffic += FrameOf(kDataFrame, 0, stream, std::string(16'384, 'x'));
    traffic += FrameOf(kWindowFrame, 0, 0, std::string("\0\0\1\0", 4));
    traffic += FrameOf(kPingFrame, 0, 0, "12345678");
    traffic += FrameOf(kDataFrame, 1, stream, std::string(100, 'x'));
    if (i % 3 == 0) traffic += CancelCall(stream);
  }
  // Padding and a priority are part of the frame: no end of the header yet.
  traffic += FrameOf(
      kHeadersFrame, 0x28, stream,
      std::string("\x05\0\0\0\0\x10", 6) + "\x83\x86" + std::string(5, '\0'));
  traffic += FrameOf(kContinuationFrame, 0, stream, std::string(16'384, 'a'));
  traffic += FrameOf(kContinuationFrame, kEndHeaders, stream, "");
  traffic += FrameOf(kDataFrame, 1, stream, "");
  return traffic;
}

class FrameFilterTest : public ::testing::Test {
 protected:
  // After the preface and the acknowledgement of our SETTINGS.
  FrameFilterTest() {
    EXPECT_EQ(Read(HttpPreface() + AcknowledgeSettings()), kPass);
  }

  FrameVerdict Read(const std::string& bytes) {
    return filter_.Read(bytes, now_);
  }
  // How many of these pass at once; at most a million.
  int Passing(const std::string& frame) {
    int passed = 0;
    while (passed < 1'000'000 && Read(frame) == kPass) ++passed;
    return passed;
  }

  static constexpr FrameVerdict kPass = FrameVerdict::kPass;
  const FrameLimits limits_;
  std::atomic<std::int64_t> all_ = 0;
  FrameFilter filter_{limits_, &all_};
  SteadyTime now_ = seconds(1000);
};

TEST_F(FrameFilterTest, PassesWhatClientsSayHoweverItIsSplit) {
  const std::string traffic = LegitTraffic();
  for (std::size_t piece : {1U, 2U, 3U, 7U, 9U, 10U, 1000U, 8192U, 1U << 20}) {
    FrameFilter filter(limits_, &all_);
    for (std::size_t at = 0; at < traffic.size(); at += piece) {
      ASSERT_EQ(filter.Read(std::string_view(traffic).substr(at, piece), now_),
                kPass)
          << "pieces of " << piece << " at " << at;
    }
    EXPECT_EQ(all_, 0);
  }
}

TEST_F(FrameFilterTest, SaysTheSameWhereverItIsSplit) {
  std::string bad = HttpPreface() + FrameOf(kHeadersFrame, 0, 1, "\x83\x86");
  for (int i = 0; i < 4; ++i) bad += FrameOf(kContinuationFrame, 0, 1, "\xbe");
  const std::string last = FrameOf(kContinuationFrame, 0, 1, "\xbe");
  for (std::size_t at = 0; at <= bad.size() + 9; ++at) {
    FrameFilter filter(limits_, &all_);
    const std::string all = bad + last;
    const FrameVerdict first =
        filter.Read(std::string_view(all).substr(0, at), now_);
    const FrameVerdict second =
        filter.Read(std::string_view(all).substr(at), now_);
    const bool has_header = at >= bad.size() + 9;
    EXPECT_EQ(first, has_header ? FrameVerdict::kHeaderBlock : kPass) << at;
    EXPECT_EQ(second, FrameVerdict::kHeaderBlock) << at;
  }
}

TEST_F(FrameFilterTest, BoundsAHeaderByItsFrames) {
  EXPECT_EQ(Read(FrameOf(kHeadersFrame, 0, 1, "\x83\x86")), kPass);
  EXPECT_EQ(Passing(FrameOf(kContinuationFrame, 0, 1, "\xbe\xbe")), 4);
  EXPECT_EQ(Read(AcknowledgeSettings()),
            FrameVerdict::kHeaderBlock);  // it stays ended
}

TEST_F(FrameFilterTest, BoundsEmptyFramesOfAHeader) {
  EXPECT_EQ(Read(FrameOf(kHeadersFrame, 0, 1, "")), kPass);
  EXPECT_EQ(Passing(FrameOf(kContinuationFrame, 0, 1, "")), 4);
}

TEST_F(FrameFilterTest, BoundsAHeaderByItsBytesBeforeTheyCome) {
  EXPECT_EQ(Read(FrameOf(kHeadersFrame, 0, 1, std::string(65'000, '\x80'))),
            kPass);
  const std::string next =
      FrameOf(kContinuationFrame, 0, 1, std::string(16'384, '\x80'));
  EXPECT_EQ(Read(next), kPass);
  EXPECT_EQ(Read(next.substr(0, 9)), FrameVerdict::kHeaderBlock);
}

TEST_F(FrameFilterTest, BoundsTheLargestFrameByItsLengthAlone) {
  EXPECT_EQ(Read(std::string("\xff\xff\xff\1\4\0\0\0\1", 9)),
            FrameVerdict::kHeaderBlock);
}

TEST_F(FrameFilterTest, CountsEachHeaderForItself) {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t stream = 2 * i + 1;
    ASSERT_EQ(
        Read(FrameOf(kHeadersFrame, 0, stream, std::string(16'384, 'x')) +
             FrameOf(kContinuationFrame, 0, stream, std::string(16'384, 'x')) +
             FrameOf(kContinuationFrame, kEndHeaders, stream, "x")),
        kPass);
  }
}

TEST_F(FrameFilterTest, PassesAHeaderOfSixtyFourKib) {
  EXPECT_EQ(Read(FrameOf(kHeadersFrame, 0, 1, std::string(16'384, 'x'))),
            kPass);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Read(FrameOf(kContinuationFrame, 0, 1, std::string(16'384, 'x'))),
              kPass);
  }
  EXPECT_EQ(Read(FrameOf(kContinuationFrame, kEndHeaders, 1,
                         std::string(4'000, 'x'))),
            kPass);
}

TEST_F(FrameFilterTest, EndsWhoResetsFasterThanItLeaks) {
  EXPECT_EQ(Passing(CancelCall(1)), 300);
  EXPECT_EQ(filter_.Read("", now_), FrameVerdict::kResets);
}

TEST_F(FrameFilterTest, LetsResetsLeak) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Read(CancelCall(1)), kPass);
  for (int i = 0; i < 600; ++i) {
    now_ += milliseconds(11);  // a hundred a second, and a little
    ASSERT_EQ(Read(CancelCall(1)), kPass) << i;
  }
  now_ += seconds(100);  // it holds no more for it
  EXPECT_EQ(Passing(CancelCall(1)), 300);
}

TEST_F(FrameFilterTest, CountsResetsThatAClientProvokes) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(filter_.NoteProvokedReset(now_), kPass);
  }
  EXPECT_EQ(filter_.NoteProvokedReset(now_), FrameVerdict::kResets);
  EXPECT_EQ(Read(AcknowledgeSettings()), FrameVerdict::kResets);
}

TEST_F(FrameFilterTest, BoundsCallsBeforeSettingsAreAcknowledged) {
  FrameFilter filter(limits_, &all_);
  ASSERT_EQ(filter.Read(HttpPreface(), now_), kPass);
  std::uint32_t stream = 1;
  for (int i = 0; i < 100; ++i, stream += 2) {
    ASSERT_EQ(filter.Read(BeginCall(stream), now_), kPass);
  }
  EXPECT_EQ(filter.Read(BeginCall(stream), now_),
            FrameVerdict::kUnacknowledged);
}

TEST_F(FrameFilterTest, LeavesCallsToGrpcOnceSettingsAreAcknowledged) {
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(Read(BeginCall(2 * i + 1)), kPass);
  }
}

class IdleFrameTest : public FrameFilterTest,
                      public ::testing::WithParamInterface<
                          std::tuple<const char*, std::string, int>> {};

TEST_P(IdleFrameTest, HaveABucket) {
  const auto& [name, frame, most] = GetParam();
  now_ += seconds(60);  // what the begin took has leaked
  EXPECT_EQ(Passing(frame), most);
  EXPECT_EQ(Read(frame), FrameVerdict::kIdleFrames);
}

INSTANTIATE_TEST_SUITE_P(
    All, IdleFrameTest,
    ::testing::Values(
        std::tuple("Ping", FrameOf(kPingFrame, 0, 0, "12345678"), 1'000),
        std::tuple("PingAck", FrameOf(kPingFrame, 1, 0, "12345678"), 20'000),
        std::tuple("Settings", FrameOf(kSettingsFrame, 0, 0, ""), 1'000),
        std::tuple("SettingsAck", FrameOf(kSettingsFrame, 1, 0, ""), 20'000),
        std::tuple("Window",
                   FrameOf(kWindowFrame, 0, 0, std::string("\0\0\0\1", 4)),
                   20'000),
        std::tuple("Priority", FrameOf(kPriorityFrame, 0, 1, "12345"), 20'000),
        std::tuple("EmptyData", FrameOf(kDataFrame, 0, 1, ""), 20'000),
        std::tuple("Unknown", FrameOf(kUnknownFrame, 0xff, 1, "?"), 20'000)),
    [](const auto& test) { return std::get<0>(test.param); });

TEST_F(FrameFilterTest, LetsAPingComeWithEachCall) {
  for (std::uint32_t i = 0; i < 9'000; ++i) {
    ASSERT_EQ(
        Read(BeginCall(2 * i + 1) + FrameOf(kPingFrame, 0, 0, "12345678")),
        kPass);
  }
}

std::string Piece(std::uint32_t stream, int flags = 0) {
  return FrameOf(kDataFrame, flags, stream, std::string(1 << 20, 'x'));
}

TEST_F(FrameFilterTest, BoundsMessagesThatDoNotEnd) {
  int passed = 0;
  for (std::uint32_t i = 0; Read(Piece(2 * (i % 16) + 1)) == kPass; ++i) {
    ++passed;
  }
  EXPECT_EQ(passed, 32);
  EXPECT_EQ(filter_.Read("", now_), FrameVerdict::kMessages);
}

TEST_F(FrameFilterTest, BoundsHowManyMessagesDoNotEnd) {
  std::uint32_t stream = 1;
  while (Read(FrameOf(kDataFrame, 0, stream, "x")) == kPass) stream += 2;
  EXPECT_EQ(stream / 2, 512U);
  EXPECT_EQ(filter_.Read("", now_), FrameVerdict::kMessages);
}

TEST_F(FrameFilterTest, BoundsHeadersThatBeginNoCall) {
  now_ += seconds(60);
  ASSERT_EQ(Read(BeginCall(7)), kPass);
  EXPECT_EQ(Passing(BeginCall(5)), 1'000);
  EXPECT_EQ(filter_.Read("", now_), FrameVerdict::kIdleFrames);
}

TEST_F(FrameFilterTest, ForgetsMessagesThatEndOrAreCancelled) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(Read(Piece(2 * i + 1) + Piece(2 * i + 1)), kPass);
    ASSERT_EQ(Read(i % 2 == 0 ? Piece(2 * i + 1, 1) : CancelCall(2 * i + 1)),
              kPass);
  }
  EXPECT_EQ(all_, 0);
}

TEST_F(FrameFilterTest, BoundsTheMessagesOfAllTogether) {
  all_ = limits_.all_messages;
  EXPECT_EQ(Read(Piece(1) + Piece(3)), kPass);  // who has little stays
  EXPECT_EQ(Read(Piece(5)), FrameVerdict::kMessages);
}

TEST_F(FrameFilterTest, GivesBackWhatAConnectionHeld) {
  {
    FrameFilter other(limits_, &all_);
    EXPECT_EQ(other.Read(HttpPreface() + Piece(1), now_), kPass);
    EXPECT_EQ(all_, 1 << 20);
  }
  EXPECT_EQ(all_, 0);
}

TEST_F(FrameFilterTest, IsSmall) {
  EXPECT_LE(sizeof(FrameFilter), 160U);  // ten thousand are parked
}

}  // namespace
}  // namespace frostline::server
