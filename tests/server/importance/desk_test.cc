// SPDX-License-Identifier: Apache-2.0
//
// Who computes for nobody ends, and leaves nothing behind. Counted in steps of
// a computation that would never end by itself.
#include "server/importance/desk.h"

#include <atomic>
#include <future>
#include <thread>

#include "gtest/gtest.h"
#include "server/importance/convert_importance.h"
#include "server/wire/limits.h"
#include "storage/factory.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using Answer = absl::StatusOr<v1::FreezePlan>;

class DeskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store.status());
    store_ = *std::move(store);
    desk_ = std::make_unique<ImportanceDesk>(*store_, clock_);
    desk_->Start(2);
  }

  // Steps until it is told to stop, and answers as if it had not noticed.
  ImportanceDesk::Computation Endless() {
    return [this](const std::stop_token& stop) {
      ++begun_;
      while (!stop.stop_requested()) {
        ++steps_;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      ++ended_;
      return ToKeep(v1::FreezePlan());
    };
  }
  static ImportanceDesk::Computation Quick() {
    return [](const std::stop_token&) {
      v1::FreezePlan plan;
      plan.set_study("studies/quick");
      return ToKeep(std::move(plan));
    };
  }

  std::future<Answer> Ask(const std::string& key, CancelFlag cancelled,
                          ImportanceDesk::Computation computation) {
    auto promise = std::make_shared<std::promise<Answer>>();
    desk_->Serve<v1::FreezePlan>(
        {.key = key}, std::move(cancelled),
        [promise](Answer answer) { promise->set_value(std::move(answer)); },
        [](const KeptAnswer& answer) {
          return MessageIn<v1::FreezePlan>(answer);
        },
        std::move(computation));
    return promise->get_future();
  }
  void WaitUntilBegun(int count) const {
    while (begun_ < count) std::this_thread::yield();
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<ImportanceDesk> desk_;
  std::atomic<int> begun_ = 0;
  std::atomic<int> ended_ = 0;
  std::atomic<int> steps_ = 0;
};

TEST_F(DeskTest, WhatNobodyWaitsForStopsAndIsNotKept) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  auto answer = Ask("a", gone, Endless());
  WaitUntilBegun(1);
  *gone = true;
  EXPECT_TRUE(absl::IsCancelled(answer.get().status()));
  EXPECT_EQ(ended_, 1);
  const int steps = steps_;
  EXPECT_EQ(desk_->Find("a"), nullptr);
  // Whoever asks next has it computed.
  EXPECT_EQ(Ask("a", nullptr, Quick()).get()->study(), "studies/quick");
  EXPECT_EQ(steps_, steps);
}

TEST_F(DeskTest, OneOfManyWhoHangsUpStopsNothing) {
  const auto gone = std::make_shared<std::atomic<bool>>(true);
  const auto other = std::make_shared<std::atomic<bool>>(false);
  auto stays = Ask("a", other, Endless());
  WaitUntilBegun(1);
  auto left = Ask("a", gone, Quick());
  // Longer than what passes between two looks at callers.
  const auto soon = std::chrono::milliseconds(200);
  EXPECT_EQ(stays.wait_for(soon), std::future_status::timeout);
  EXPECT_EQ(ended_, 0);
  *other = true;
  EXPECT_TRUE(absl::IsCancelled(stays.get().status()));
  EXPECT_TRUE(absl::IsCancelled(left.get().status()));
}

TEST_F(DeskTest, WhoComesBehindTooManyIsToldSo) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<Answer>> waiting;
  for (std::size_t i = 0; i < kMaxAwaitedAnswers; ++i) {
    waiting.push_back(Ask(absl::StrCat("q", i), gone, Endless()));
  }
  EXPECT_THAT(Ask("another", nullptr, Quick()).get(),
              FailsWith(ErrorId::kOverloaded));
  auto joined = Ask("q0", gone, Quick());  // it needs no computation
  *gone = true;
  for (auto& one : waiting) EXPECT_TRUE(absl::IsCancelled(one.get().status()));
  EXPECT_TRUE(absl::IsCancelled(joined.get().status()));
  EXPECT_OK(Ask("another", nullptr, Quick()).get());
}

TEST_F(DeskTest, SlowAnswersLeaveFewerPlaces) {
  EXPECT_EQ(PlacesFor(0.0, 2), kMaxAwaitedAnswers);
  EXPECT_EQ(PlacesFor(2.0, 2), 10U);
  EXPECT_EQ(PlacesFor(60.0, 2), kFewestAwaitedAnswers);
  // Given that one took two seconds, ten of two threads are there in ten.
  EXPECT_OK(Ask("slow", nullptr, [this](const auto& stop) {
              clock_.Advance(std::chrono::seconds(2));
              return Quick()(stop);
            }).get());
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<Answer>> waiting;
  for (int i = 0; i < 10; ++i) {
    waiting.push_back(Ask(absl::StrCat("q", i), gone, Endless()));
  }
  EXPECT_THAT(Ask("another", nullptr, Quick()).get(),
              FailsWith(ErrorId::kOverloaded));
  *gone = true;
  for (auto& one : waiting) EXPECT_TRUE(absl::IsCancelled(one.get().status()));
}

// Who comes while it ends has it computed once more, and waits for that.
TEST_F(DeskTest, WhoComesWhileItEndsIsAnswered) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::promise<void> told, go_on;
  auto first = Ask("a", gone, [&, waited = false](const auto& stop) mutable {
    if (!waited) {
      ++begun_;
      while (!stop.stop_requested()) std::this_thread::yield();
      told.set_value();
      go_on.get_future().wait();
    }
    waited = true;
    return Quick()(stop);
  });
  WaitUntilBegun(1);
  *gone = true;
  told.get_future().wait();
  auto second = Ask("a", nullptr, Quick());
  go_on.set_value();
  EXPECT_EQ(second.get()->study(), "studies/quick");
  EXPECT_OK(first.get().status());
  EXPECT_NE(desk_->Find("a"), nullptr);
}

TEST_F(DeskTest, TheEndStopsAllAndSaysSo) {
  auto one = Ask("a", nullptr, Endless());
  auto other = Ask("b", nullptr, Endless());
  WaitUntilBegun(2);
  auto waits = Ask("c", nullptr, Endless());
  desk_->Stop();
  for (auto* const answer : {&one, &other, &waits}) {
    EXPECT_TRUE(
        HasErrorId(answer->get().status(), ErrorId::kCoordinatorDraining));
  }
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(ended_, 2);
  // Who comes later hears it, too.
  EXPECT_TRUE(HasErrorId(Ask("d", nullptr, Quick()).get().status(),
                         ErrorId::kCoordinatorDraining));
  for (const char* const key : {"a", "b", "c"}) {
    EXPECT_EQ(desk_->Find(key), nullptr);
  }
}

}  // namespace
}  // namespace frostline::server
