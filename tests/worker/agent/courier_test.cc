// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/courier.h"

#include <algorithm>
#include <functional>

#include "gmock/gmock.h"
#include "tests/worker/agent/scripted_coordinator.h"

namespace frostline::agent {
namespace {

using ::testing::SizeIs;

class CourierTest : public ::testing::Test {
 protected:
  std::shared_ptr<Outbox> Adopt(int number) {
    auto outbox = std::make_shared<Outbox>(RefTo(number), nullptr, nullptr);
    courier_.Adopt(outbox);
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
  Courier courier_{client_, "", [this](const v1::Directive& directive) {
                     if (on_directive_) on_directive_(directive);
                   }};
};

TEST_F(CourierTest, ReportsThatWaitAreSentTogetherAndInOrder) {
  const auto outbox = Adopt(0);
  for (int step = 1; step <= 1300; ++step) Report(*outbox, step);
  EXPECT_TRUE(courier_.DeliverOnce());
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
  EXPECT_TRUE(courier_.DeliverOnce());
  EXPECT_EQ(coordinator_.heard().order.front(), "Finish");
}

TEST_F(CourierTest, OutboxesTakeTurns) {
  const auto talker = Adopt(0);
  for (int step = 1; step <= 5000; ++step) Report(*talker, step);
  Report(*Adopt(1), 1);
  EXPECT_TRUE(courier_.DeliverOnce());
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
  EXPECT_TRUE(courier_.DeliverOnce());
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
  EXPECT_TRUE(courier_.DeliverOnce());
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

}  // namespace
}  // namespace frostline::agent
