// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/deliverer.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"
#include "worker/agent/link/lease_keeper.h"

namespace frostline::agent {
namespace {

using std::chrono::minutes;
using ::testing::SizeIs;

class CourierTest : public ::testing::Test {
 protected:
  std::shared_ptr<Outbox> Adopt(int number) {
    auto outbox = std::make_shared<Outbox>(RefTo(number), nullptr, nullptr);
    deliverer_.Adopt(outbox);
    return outbox;
  }
  static v1::LeaseRef RefTo(int number) {
    v1::LeaseRef ref;
    ref.set_trial(ScriptedCoordinator::LeaseOf(number).trial());
    ref.set_attempt(1);
    return ref;
  }
  static void Report(Outbox& outbox, std::int64_t step) {
    v1::ReportRequest report;
    *report.mutable_lease() = outbox.lease();
    report.set_sequence(step);
    report.add_measurements()->set_step(step);
    outbox.Add(report);
  }
  static void Finish(Outbox& outbox) {
    v1::FinishRequest finish;
    *finish.mutable_lease() = outbox.lease();
    outbox.Add(finish);
  }
  std::vector<std::int64_t> StepsOf(int number) const {
    std::vector<std::int64_t> steps;
    for (const v1::ReportRequest& report : coordinator_.heard().reports) {
      if (report.lease().trial() != RefTo(number).trial()) continue;
      for (const auto& one : report.measurements()) steps.push_back(one.step());
    }
    return steps;
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  std::function<void(const v1::Directive&)> on_directive_;
  std::vector<std::pair<std::string, v1::FinishReply::Verdict>> finished_;
  Deliverer deliverer_{
      client_, "",
      [this](const v1::Directive& directive) {
        if (on_directive_) on_directive_(directive);
      },
      [this](const v1::FinishRequest& finish, const v1::FinishReply& reply) {
        finished_.push_back({finish.lease().trial(), reply.verdict()});
      }};
};

TEST_F(CourierTest, ReportsThatWaitAreSentTogetherAndInOrder) {
  const auto outbox = Adopt(0);
  for (int step = 1; step <= 1300; ++step) Report(*outbox, step);
  EXPECT_TRUE(deliverer_.DeliverOnce());
  EXPECT_THAT(coordinator_.heard().reports, SizeIs(3));  // 1, 1,000 and 299
  const std::vector<std::int64_t> steps = StepsOf(0);
  ASSERT_EQ(steps.size(), 1300u);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_EQ(coordinator_.heard().reports.back().sequence(), 1300);
}

TEST_F(CourierTest, AnEndingGoesBeforeWhatANeighbourHasToSay) {
  const auto talker = Adopt(0);
  for (int step = 1; step <= 5000; ++step) Report(*talker, step);
  Finish(*Adopt(1));
  EXPECT_TRUE(deliverer_.DeliverOnce());
  EXPECT_EQ(coordinator_.heard().order.front(), "Finish");
}

// Refused again and again, it would cost a call for each of its steps.
TEST_F(CourierTest, TheAnswerToAFinishIsHeardOnce) {
  Finish(*Adopt(1));
  EXPECT_TRUE(deliverer_.DeliverOnce());
  ASSERT_THAT(finished_, SizeIs(1));
  EXPECT_EQ(finished_[0].first, RefTo(1).trial());
  EXPECT_EQ(finished_[0].second, v1::FinishReply::ACCEPTED);
  coordinator_.Refuse("Finish", ErrorId::kLeaseLost);
  Finish(*Adopt(2));
  EXPECT_TRUE(deliverer_.DeliverOnce());
  ASSERT_THAT(finished_, SizeIs(2));
  EXPECT_EQ(finished_[1].second, v1::FinishReply::VERDICT_UNSPECIFIED);
}

TEST_F(CourierTest, BehindTheLastStepThatIsTakenOnlyCheckpointsAreSent) {
  coordinator_.GoAway();
  const auto outbox = Adopt(0);
  for (int step = 1; step <= 3000; ++step) {
    v1::ReportRequest report;
    *report.mutable_lease() = outbox->lease();
    report.set_sequence(step);
    report.add_measurements()->set_step(step);
    if (step % 500 == 0) report.mutable_checkpoint()->set_step(step);
    outbox->Add(report);
  }
  coordinator_.ComeBack();
  coordinator_.Refuse("Report", ErrorId::kFieldTooLarge);
  EXPECT_TRUE(deliverer_.DeliverOnce());
  const auto reports = coordinator_.heard().reports;
  EXPECT_LE(reports.size(), 5u);
  EXPECT_EQ(StepsOf(0), std::vector<std::int64_t>{1});  // the refused one
  EXPECT_EQ(reports.back().checkpoint().step(), 3000);
  Report(*outbox, 3001);
  EXPECT_FALSE(outbox->Front().has_value());
}

TEST_F(CourierTest, OutboxesTakeTurns) {
  const auto talker = Adopt(0);
  for (int step = 1; step <= 5000; ++step) Report(*talker, step);
  Report(*Adopt(1), 1);
  EXPECT_TRUE(deliverer_.DeliverOnce());
  const auto reports = coordinator_.heard().reports;
  EXPECT_TRUE(reports[0].lease().trial() == RefTo(1).trial() ||
              reports[1].lease().trial() == RefTo(1).trial());
}

// A slot that never stops talking, and a neighbour that begins meanwhile.
TEST_F(CourierTest, WhoComesDuringARoundIsDeliveredInIt) {
  const auto talker = Adopt(0);
  Report(*talker, 1);
  Report(*talker, 2);
  std::shared_ptr<Outbox> late;
  on_directive_ = [&](const v1::Directive&) {
    const std::size_t sent = coordinator_.heard().reports.size();
    if (sent < 50) Report(*talker, static_cast<std::int64_t>(sent) + 2);
    if (sent == 5) Finish(*(late = Adopt(1)));
  };
  EXPECT_TRUE(deliverer_.DeliverOnce());
  const auto order = coordinator_.heard().order;
  EXPECT_EQ(std::find(order.begin(), order.end(), "Finish") - order.begin(), 5);
}

TEST_F(CourierTest, ReportsThatAreLargeAreNotPutTogether) {
  const auto outbox = Adopt(0);
  for (int step = 1; step <= 4; ++step) {
    v1::ReportRequest report;
    *report.mutable_lease() = outbox->lease();
    report.set_sequence(step);
    auto& one = *report.add_measurements();
    one.set_step(step);
    (*one.mutable_metrics())[std::string(100'000, 'm')] = 1.0;
    outbox->Add(report);
  }
  EXPECT_TRUE(deliverer_.DeliverOnce());
  EXPECT_THAT(coordinator_.heard().reports, SizeIs(3));  // 1, then 2, then 1
}

TEST_F(CourierTest, WhatWasPutTogetherIsTakenApartWhenRefused) {
  Outbox outbox(RefTo(0), nullptr, nullptr);
  for (const int step : {1, 2, 3, 4}) Report(outbox, step);
  EXPECT_FALSE(outbox.SplitFront());  // one alone
  outbox.PopFront();
  EXPECT_TRUE(outbox.SplitFront());
  for (const int step : {2, 3, 4}) {
    const auto front = std::get<v1::ReportRequest>(*outbox.Front());
    ASSERT_THAT(front.measurements(), SizeIs(1));
    EXPECT_EQ(front.measurements(0).step(), step);
    outbox.PopFront();
  }
}

// Many steps to each report, since each report is synced to the disk.
constexpr int kBlocks = 200;
constexpr std::int64_t kStepsOfABlock = 500;
constexpr std::size_t kMiB = std::size_t{1} << 20;

class BacklogTest : public CourierTest {
 protected:
  // Returns the most bytes that memory held at any time.
  static std::size_t Fill(Outbox& outbox) {
    std::size_t most = 0;
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      v1::ReportRequest report;
      *report.mutable_lease() = outbox.lease();
      report.set_sequence(block + 1);
      for (std::int64_t i = 0; i < kStepsOfABlock; ++i) {
        v1::Measurement& one = *report.add_measurements();
        one.set_step(block * kStepsOfABlock + i);
        (*one.mutable_metrics())[std::string(80, 'm')] = 0.5;
      }
      outbox.Add(report);
      most = std::max(most, outbox.bytes_in_memory());
    }
    Finish(outbox);
    return std::max(most, outbox.bytes_in_memory());
  }
  void DeliverAll() {
    coordinator_.ComeBack();
    // The channel takes its time to connect again.
    for (int i = 0; i < 2000 && !deliverer_.idle(); ++i) {
      if (!deliverer_.DeliverOnce()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    ASSERT_TRUE(deliverer_.idle());
    EXPECT_EQ(coordinator_.heard().order.back(), "Finish");
    EXPECT_THAT(coordinator_.heard().finishes, SizeIs(1));
  }
  void ExpectEveryStepOnce() const {
    const std::vector<std::int64_t> steps = StepsOf(0);
    ASSERT_EQ(steps.size(), kBlocks * kStepsOfABlock);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ASSERT_EQ(steps[i], static_cast<std::int64_t>(i));
    }
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("x.spool");
};

TEST_F(BacklogTest, OfAHundredThousandStepsMemoryHoldsLittle) {
  coordinator_.GoAway();
  auto file = SpoolFile::Create(path_, RefTo(0));
  ASSERT_TRUE(file.ok());
  const auto outbox =
      std::make_shared<Outbox>(RefTo(0), *std::move(file), nullptr);
  deliverer_.Adopt(outbox);
  EXPECT_LT(Fill(*outbox), kMiB);
  EXPECT_GT(std::filesystem::file_size(path_), 8 * kMiB);
  EXPECT_FALSE(deliverer_.DeliverOnce());
  DeliverAll();
  ExpectEveryStepOnce();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(BacklogTest, WhatADeadAgentLeftIsReadInPieces) {
  {
    auto file = SpoolFile::Create(path_, RefTo(0));
    ASSERT_TRUE(file.ok());
    Outbox dead(RefTo(0), *std::move(file), nullptr);
    Fill(dead);
  }
  SpoolContent content;
  auto file = SpoolFile::Reopen(path_, &content);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(content.reports, kBlocks);
  const auto outbox =
      std::make_shared<Outbox>(std::move(content), *std::move(file));
  EXPECT_LT(outbox->bytes_in_memory(), kMiB);
  deliverer_.Adopt(outbox);
  DeliverAll();
  ExpectEveryStepOnce();
}

TEST_F(BacklogTest, WithoutADiskReportsAreDroppedInTheEndAndTheEndingNever) {
  coordinator_.GoAway();
  const auto outbox = Adopt(0);
  EXPECT_LT(Fill(*outbox), 5 * kMiB);
  DeliverAll();
  const std::vector<std::int64_t> steps = StepsOf(0);
  EXPECT_GT(steps.size(), 10'000u);
  EXPECT_LT(steps.size(), 100'000u);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
}

TEST_F(BacklogTest, AReportThatIsDroppedLeavesItsCheckpoint) {
  coordinator_.GoAway();
  const auto outbox = Adopt(0);
  v1::ReportRequest report;
  *report.mutable_lease() = outbox->lease();
  auto& text = (*report.add_measurements()->mutable_metrics());
  for (int i = 0; i < 60; ++i) text[std::string(60, 'm') + std::to_string(i)];
  int sent = 0;
  for (; sent < 2000; ++sent) {
    report.mutable_measurements(0)->set_step(sent);
    report.set_sequence(sent + 1);
    report.mutable_checkpoint()->set_step(sent);
    outbox->Add(report);
  }
  Finish(*outbox);
  DeliverAll();
  EXPECT_LT(StepsOf(0).size(), 1900u);
  EXPECT_EQ(coordinator_.heard().reports.back().checkpoint().step(), sent - 1);
}

// A file that cannot be read back costs what was in it alone.
TEST_F(BacklogTest, ADamagedSpoolDoesNotHoldBackTheEnding) {
  coordinator_.GoAway();
  auto file = SpoolFile::Create(path_, RefTo(0));
  ASSERT_TRUE(file.ok());
  const auto outbox =
      std::make_shared<Outbox>(RefTo(0), *std::move(file), nullptr);
  deliverer_.Adopt(outbox);
  Fill(*outbox);
  std::filesystem::resize_file(path_, 2 * kMiB);
  DeliverAll();
  EXPECT_GT(StepsOf(0).size(), 10'000u);
}

TEST_F(BacklogTest, ALostLeaseForgetsWhatIsInTheFileToo) {
  auto file = SpoolFile::Create(path_, RefTo(0));
  ASSERT_TRUE(file.ok());
  const auto outbox =
      std::make_shared<Outbox>(RefTo(0), *std::move(file), nullptr);
  deliverer_.Adopt(outbox);
  Fill(*outbox);
  coordinator_.Refuse("Report", ErrorId::kLeaseLost);
  EXPECT_TRUE(deliverer_.DeliverOnce());
  EXPECT_THAT(coordinator_.heard().reports, SizeIs(1));
  EXPECT_TRUE(outbox->done());
}

// Logs that somebody wants to see ride on heartbeats. The regular beat of these
// tests would come after ten minutes.

constexpr std::size_t kMaxRequest = std::size_t{1} << 20;

class LogTails : public ::testing::Test {
 protected:
  LogTails() { keeper_.Start(minutes(10)); }

  // The last of them with a beat for all.
  void Hold(int count) {
    log_.Append(std::string(kMaxLogTailBytes, 'x'));
    for (int number = 1; number <= count; ++number) {
      v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
      lease.clear_heartbeat_interval();
      keeper_.Hold(
          std::make_shared<HeldLease>(
              lease, RenewalWatch(minutes(1), minutes(1), clock_.Steady()),
              clock_, wakeup_, log_),
          number == count);
    }
  }
  static std::set<std::string> Told(const Heard& heard) {
    std::set<std::string> trials;
    for (const auto& beat : heard.heartbeats) {
      for (const auto& lease : beat.leases()) {
        if (!lease.log_tail().empty()) trials.insert(lease.lease().trial());
      }
    }
    return trials;
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  LeaseKeeper keeper_{
      client_, clock_, "workers/w", "boot", {[] {}, [](SteadyTime) {}}};
};

TEST_F(LogTails, ComePromptly) {
  coordinator_.WantLogs();
  Hold(1);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return !Told(heard).empty(); }));
}

TEST_F(LogTails, FitIntoARequestHoweverManyAreWanted) {
  coordinator_.WantLogs();
  Hold(25);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return Told(heard).size() == 25; }));
  for (const auto& beat : coordinator_.heard().heartbeats) {
    EXPECT_LT(beat.ByteSizeLong(), kMaxRequest);
  }
}

class Load : public ::testing::Test {
 protected:
  Load() { keeper_.Start(std::chrono::milliseconds(20)); }

  static int LoadsIn(const Heard& heard) {
    int loads = 0;
    for (const auto& beat : heard.heartbeats) loads += beat.has_load() ? 1 : 0;
    return loads;
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  LeaseKeeper keeper_{client_,
                      clock_,
                      "workers/w",
                      "boot",
                      {.heard = [] {},
                       .unknown = [](SteadyTime) {},
                       .load = [] { return v1::NodeLoad(); }}};
};

TEST_F(Load, RidesOnHeartbeats) {
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return LoadsIn(heard) >= 3; }));
}

TEST_F(Load, IsNotToldAgainToACoordinatorThatDoesNotTakeIt) {
  coordinator_.Refuse("Heartbeat", ErrorId::kMethodNotBuilt);
  EXPECT_TRUE(coordinator_.Await([](const Heard& heard) {
    return heard.heartbeats.size() >= 5 && !heard.heartbeats.back().has_load();
  }));
  const auto beats = coordinator_.heard().heartbeats;
  const auto last = std::find_if(
      beats.rbegin(), beats.rend(),
      [](const v1::HeartbeatRequest& beat) { return beat.has_load(); });
  ASSERT_NE(last, beats.rend());
  ASSERT_NE(last, beats.rbegin());
  // The refused one came again at once, without it.
  EXPECT_EQ(std::prev(last)->sequence(), last->sequence());
}

class ProgressInHeartbeats : public ::testing::Test {
 protected:
  // Beats for a lease until it is taken down.
  void Beat(bool tells_progress) {
    keeper_ = std::make_unique<LeaseKeeper>(
        client_, clock_, "workers/w", "boot",
        LeaseKeeper::Hooks{.heard = [] {},
                           .unknown = [](SteadyTime) {},
                           .load = [] { return v1::NodeLoad(); },
                           .tells_progress = tells_progress});
    keeper_->Hold(std::make_shared<HeldLease>(
                      ScriptedCoordinator::LeaseOf(1),
                      RenewalWatch(minutes(1), minutes(1), clock_.Steady()),
                      clock_, wakeup_, log_),
                  false);
    keeper_->Start(std::chrono::milliseconds(20));
  }
  static bool IsToldIn(const v1::HeartbeatRequest& beat) {
    return beat.leases_size() > 0 && beat.leases(0).has_progress();
  }

  ScriptedCoordinator coordinator_;
  RpcClient client_{coordinator_.address()};
  SystemClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  std::unique_ptr<LeaseKeeper> keeper_;
};

TEST_F(ProgressInHeartbeats, RidesOnHeartbeatsOfWhoeverTellsIt) {
  Beat(true);
  EXPECT_TRUE(coordinator_.Await([](const Heard& heard) {
    return !heard.heartbeats.empty() && IsToldIn(heard.heartbeats.back());
  }));
}

TEST_F(ProgressInHeartbeats, IsNotToldToACoordinatorThatDidNotAskForIt) {
  Beat(false);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 3; }));
  for (const auto& beat : coordinator_.heard().heartbeats) {
    EXPECT_FALSE(IsToldIn(beat));
  }
}

// One that takes loads and no progress has come back in place of a newer one.
TEST_F(ProgressInHeartbeats, IsLeftOutFirstWhereAHeartbeatIsRefused) {
  coordinator_.Refuse("Heartbeat", ErrorId::kMethodNotBuilt);
  Beat(true);
  EXPECT_TRUE(coordinator_.Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 3; }));
  const auto beats = coordinator_.heard().heartbeats;
  EXPECT_TRUE(IsToldIn(beats[0]));
  EXPECT_EQ(beats[1].sequence(), beats[0].sequence());
  for (std::size_t i = 1; i < beats.size(); ++i) {
    EXPECT_FALSE(IsToldIn(beats[i]));
    EXPECT_TRUE(beats[i].has_load());
  }
}

}  // namespace
}  // namespace frostline::agent
