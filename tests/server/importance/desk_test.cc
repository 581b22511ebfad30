// SPDX-License-Identifier: Apache-2.0
#include "server/importance/desk.h"

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "server/importance/convert_importance.h"
#include "server/wire/limits.h"
#include "storage/factory.h"
#include "tests/server/importance/importance_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;

// Who computes for nobody ends, and leaves nothing behind. Counted in steps of
// a computation that would never end by itself.

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
  for (std::size_t i = 0; i < PlacesFor(1.0, 2); ++i) {
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
  EXPECT_EQ(PlacesFor(1.0, 2), 12U);
  EXPECT_EQ(PlacesFor(60.0, 2), kFewestAwaitedAnswers);
  // Given that the last ones took three seconds, two threads compute four in
  // six.
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(Ask(absl::StrCat("slow", i), nullptr, [this](const auto& stop) {
                clock_.Advance(std::chrono::seconds(3));
                return Quick()(stop);
              }).get());
  }
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<Answer>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(Ask(absl::StrCat("q", i), gone, Endless()));
  }
  EXPECT_THAT(Ask("another", nullptr, Quick()).get(),
              FailsWith(ErrorId::kOverloaded));
  *gone = true;
  for (auto& one : waiting) EXPECT_TRUE(absl::IsCancelled(one.get().status()));
}

TEST_F(DeskTest, WhoHasWaitedTooLongIsToldSoAndNotComputedFor) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  auto one = Ask("a", gone, Endless());
  auto other = Ask("b", gone, Endless());
  WaitUntilBegun(2);
  auto late = Ask("c", nullptr, Quick());
  clock_.Advance(std::chrono::seconds(7));
  auto fresh = Ask("d", nullptr, Quick());
  *gone = true;
  EXPECT_THAT(late.get(), FailsWith(ErrorId::kOverloaded));
  EXPECT_OK(fresh.get());
  EXPECT_EQ(desk_->Find("c"), nullptr);
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

// What importance does not do twice. Counted at the store, not timed.

class ImportanceCacheTest : public ImportanceFixture {};

TEST_F(ImportanceCacheTest, AnswersTheSameQuestionWithoutTheStore) {
  ASSERT_OK_AND_ASSIGN(const auto first, Ask(PlainRequest()));
  EXPECT_EQ(store_->TakeReads(), 1);
  clock_.Advance(seconds(5));
  ASSERT_OK_AND_ASSIGN(const auto again, Ask(PlainRequest()));
  EXPECT_EQ(store_->TakeReads(), 0);
  EXPECT_EQ(again.DebugString(), first.DebugString());
  v1::GetReportRequest anew = PlainRequest();
  anew.set_refresh(true);
  ASSERT_OK_AND_ASSIGN(const auto refreshed, Ask(anew));
  EXPECT_EQ(store_->TakeReads(), 1);
  EXPECT_GT(refreshed.compute_time().seconds(), first.compute_time().seconds());
}

TEST_F(ImportanceCacheTest, KeepsAnswersToOtherQuestionsApart) {
  ASSERT_OK_AND_ASSIGN(const auto first, Ask(PlainRequest()));
  v1::GetReportRequest other = PlainRequest();
  other.mutable_options()->set_target("loss");
  ASSERT_OK_AND_ASSIGN(const auto second, Ask(other));
  EXPECT_NE(First(first), First(second));
  // Spelt out or left to the default, it is one question.
  v1::GetReportRequest spelt = PlainRequest();
  spelt.mutable_options()->set_target("accuracy");
  spelt.mutable_options()->set_evaluator("fanova");
  store_->TakeReads();
  ASSERT_OK(Ask(spelt).status());
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(ImportanceCacheTest, ReadsOnlyTheTrialsThatChanged) {
  ASSERT_OK(Ask(PlainRequest()).status());
  EXPECT_EQ(store_->TakeRows(), 45);
  Import("a", 45, 46);
  ASSERT_OK_AND_ASSIGN(const auto more, Ask(PlainRequest()));
  EXPECT_EQ(store_->TakeRows(), 1);
  EXPECT_EQ(more.trials_used(), 37);
  // Labels are asked for by filters: a trial that got others is read again.
  v1::UpdateTrialRequest update;
  update.set_request_id(RandomHexId());
  update.set_name("studies/a/trials/0");
  (*update.mutable_labels())["half"] = "none";
  update.mutable_update_mask()->add_paths("labels");
  ASSERT_OK(driver_->Call<v1::Trial>(update).status());
  v1::GetReportRequest even = PlainRequest();
  even.mutable_options()->set_filter("labels.half = \"even\"");
  ASSERT_OK_AND_ASSIGN(const auto filtered, Ask(even));
  EXPECT_EQ(store_->TakeRows(), 1);
  EXPECT_EQ(filtered.trials_used() + filtered.trials_left_out(), 22);
}

// Grants, reports and new trials change no trial that has ended.
TEST_F(ImportanceCacheTest, AReportMovesNoAnswer) {
  v1::GetReportRequest even = PlainRequest();
  even.mutable_options()->set_filter("labels.half = \"even\"");
  v1::GetFrontierRequest frontier;
  frontier.set_study("studies/a");
  ASSERT_OK_AND_ASSIGN(const auto first, Ask(PlainRequest()));
  ASSERT_OK(Ask(even).status());
  ASSERT_OK(driver_->Call<v1::Frontier>(frontier).status());
  ASSERT_OK(driver_->Register("w", "boot-1").status());
  const v1::Lease lease = driver_->AcquireOne("w", "boot-1");
  ASSERT_OK(driver_->Report(lease, 1, 0.5).status());
  store_->TakeReads();
  ASSERT_OK_AND_ASSIGN(const auto again, Ask(PlainRequest()));
  EXPECT_EQ(again.DebugString(), first.DebugString());
  EXPECT_OK(Ask(even).status());
  EXPECT_OK(driver_->Call<v1::Frontier>(frontier).status());
  EXPECT_EQ(store_->TakeReads(), 0);
  ASSERT_OK(driver_->Finish(lease, 0.75).status());
  EXPECT_EQ(Ask(PlainRequest())->trials_used(), first.trials_used() + 1);
  EXPECT_OK(Ask(even).status());
  EXPECT_EQ(store_->TakeReads(), 2);
}

TEST_F(ImportanceCacheTest, LabelsMoveTheAnswersThatAskForThem) {
  v1::GetReportRequest even = PlainRequest();
  even.mutable_options()->set_filter("labels.half = \"even\"");
  ASSERT_OK_AND_ASSIGN(const auto plain, Ask(PlainRequest()));
  ASSERT_OK_AND_ASSIGN(const auto first, Ask(even));
  v1::UpdateTrialRequest update;
  update.set_request_id(RandomHexId());
  update.set_name("studies/a/trials/0");
  (*update.mutable_labels())["half"] = "none";
  update.mutable_update_mask()->add_paths("labels");
  ASSERT_OK(driver_->Call<v1::Trial>(update).status());
  store_->TakeReads();
  ASSERT_OK_AND_ASSIGN(const auto same, Ask(PlainRequest()));
  EXPECT_EQ(same.DebugString(), plain.DebugString());
  EXPECT_EQ(store_->TakeReads(), 0);
  ASSERT_OK_AND_ASSIGN(const auto fewer, Ask(even));
  EXPECT_EQ(store_->TakeReads(), 1);
  EXPECT_EQ(fewer.trials_used() + fewer.trials_left_out(),
            first.trials_used() + first.trials_left_out() - 1);
}

// So many computations, of which each reads what has changed once.
TEST_F(ImportanceCacheTest, WhoWatchesIsContentWithWhatIsLittleBehind) {
  v1::GetReportRequest watching = PlainRequest();
  watching.set_watching(true);
  std::int64_t computed = 0, last_revision = 0;
  for (int i = 45; i < 70; ++i) {
    Import("a", i, i + 1);
    ASSERT_OK_AND_ASSIGN(const auto seen, Ask(watching));
    const std::int64_t reads = store_->TakeReads();
    EXPECT_EQ(reads == 0, seen.revision() == last_revision);
    // Behind by nine is good enough, by ten is not.
    EXPECT_EQ(reads, i % 10 == 5 ? 1 : 0) << i;
    last_revision = seen.revision();
    computed += reads;
  }
  EXPECT_EQ(computed, 3);
  clock_.Advance(seconds(29));
  ASSERT_OK(Ask(watching).status());
  EXPECT_EQ(store_->TakeReads(), 0);
  clock_.Advance(seconds(2));
  ASSERT_OK_AND_ASSIGN(const auto later, Ask(watching));
  EXPECT_EQ(store_->TakeReads(), 1);
  EXPECT_GT(later.revision(), last_revision);
  // While nothing ends, what is newest stays it.
  clock_.Advance(seconds(3600));
  ASSERT_OK(Ask(watching).status());
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(ImportanceCacheTest, WhoDoesNotWatchGetsTheNewest) {
  v1::GetReportRequest watching = PlainRequest();
  watching.set_watching(true);
  ASSERT_OK(Ask(watching).status());
  for (int i = 45; i < 50; ++i) {
    Import("a", i, i + 1);
    store_->TakeReads();
    ASSERT_OK_AND_ASSIGN(const auto newest, Ask(PlainRequest()));
    EXPECT_EQ(store_->TakeReads(), 1);
    // Who watches has it then, too.
    ASSERT_OK_AND_ASSIGN(const auto seen, Ask(watching));
    EXPECT_EQ(seen.revision(), newest.revision());
    EXPECT_EQ(store_->TakeReads(), 0);
  }
  // Another question is another series.
  watching.mutable_options()->set_target("loss");
  ASSERT_OK(Ask(watching).status());
  EXPECT_EQ(store_->TakeReads(), 1);
}

TEST_F(ImportanceCacheTest, WhoWatchesWaitsForWhatIsBeingComputed) {
  v1::GetReportRequest watching = PlainRequest();
  watching.set_watching(true);
  store_->Hold();
  std::vector<std::future<absl::StatusOr<v1::ImportanceReport>>> waiting;
  for (int i = 45; i < 50; ++i) {
    waiting.push_back(driver_->Start<v1::ImportanceReport>(watching, nullptr));
    Import("a", i, i + 1);
  }
  store_->LetGo();
  for (auto& report : waiting) EXPECT_OK(report.get().status());
  EXPECT_EQ(store_->TakeReads(), 1);
}

TEST_F(ImportanceCacheTest, NobodyWatchesAndRefreshesAtOnce) {
  v1::GetReportRequest both = PlainRequest();
  both.set_watching(true);
  both.set_refresh(true);
  const absl::Status refused = Ask(both).status();
  EXPECT_TRUE(HasErrorId(refused, ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(refused)->field, "watching");
  EXPECT_EQ(store_->TakeReads(), 0);
}

// Trial by trial the very bytes that a coordinator gives that saw all of them
// at once: every double to its last bit; a map has no order.
TEST_F(ImportanceCacheTest, AnAnswerAfterEachOneMoreIsTheOneFromScratch) {
  constexpr int kFirst = 45, kLast = 48;
  const auto ask = [this] {
    absl::StatusOr<v1::ImportanceReport> report = Ask(ReportRequest());
    EXPECT_OK(report.status());
    // Fewer commits are fewer revisions.
    report->clear_revision();
    report->clear_compute_seconds();
    return *std::move(report);
  };
  ask();
  store_->TakeRows();
  std::map<int, v1::ImportanceReport> grown;
  for (int trial = kFirst; trial < kLast; ++trial) {
    Import("a", trial, trial + 1);
    grown[trial] = ask();
    EXPECT_EQ(store_->TakeRows(), 1);
  }
  for (int trial = kFirst; trial < kLast; ++trial) {
    driver_ = nullptr;
    store_ = std::make_unique<CountingStore>(*storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true}));
    driver_ = std::make_unique<Driver>(*store_, clock_);
    Create("a");
    Import("a", 0, trial + 1);
    EXPECT_TRUE(
        google::protobuf::util::MessageDifferencer::Equals(grown[trial], ask()))
        << trial;
  }
}

TEST_F(ImportanceCacheTest, AKeptAnswerSaysWhetherTheStudyStillRuns) {
  ASSERT_OK_AND_ASSIGN(const auto running, Ask(PlainRequest()));
  EXPECT_TRUE(running.provisional());
  v1::StopStudyRequest stop;
  stop.set_request_id(RandomHexId());
  stop.set_name("studies/a");
  ASSERT_OK(driver_->Call<v1::Study>(stop).status());
  store_->TakeReads();
  ASSERT_OK_AND_ASSIGN(const auto stopped, Ask(PlainRequest()));
  EXPECT_FALSE(stopped.provisional());
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(ImportanceCacheTest, ReadsAStepsMeasurementsOnce) {
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->set_at_step(2);
  store_->TakeSteps();
  ASSERT_OK(Ask(request).status());
  EXPECT_EQ(store_->TakeSteps(), 45);
  Import("a", 45, 47);
  ASSERT_OK_AND_ASSIGN(const auto more, Ask(request));
  EXPECT_EQ(store_->TakeSteps(), 2);
  EXPECT_EQ(more.trials_used(), 47);
}

TEST_F(ImportanceCacheTest, ComputesOnceWhatManyAskForAtTheSameTime) {
  store_->Hold();
  std::vector<std::future<absl::StatusOr<v1::ImportanceReport>>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(
        driver_->Start<v1::ImportanceReport>(PlainRequest(), nullptr));
  }
  // Lists have threads of their own; the study can still be read.
  ASSERT_OK(driver_->GetStudy("a").status());
  store_->LetGo();
  for (auto& report : waiting) EXPECT_OK(report.get().status());
  EXPECT_EQ(store_->TakeReads(), 1);
}

TEST_F(ImportanceCacheTest, BeginsNothingForCallersThatHungUp) {
  store_->Hold();
  std::vector<std::future<absl::StatusOr<v1::ImportanceReport>>> busy;
  for (const char* const target : {"accuracy", "loss"}) {
    v1::GetReportRequest request = PlainRequest();
    request.mutable_options()->set_target(target);
    busy.push_back(driver_->Start<v1::ImportanceReport>(request, nullptr));
  }
  v1::GetReportRequest third = PlainRequest();
  third.mutable_options()->set_target("train_seconds");
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto gone = driver_->Start<v1::ImportanceReport>(third, cancelled);
  cancelled->store(true);
  store_->LetGo();
  EXPECT_TRUE(absl::IsCancelled(gone.get().status()));
  for (auto& report : busy) EXPECT_OK(report.get().status());
  EXPECT_EQ(store_->TakeReads(), 2);
}

TEST(AnswerCache, ForgetsWhatWasNotAskedForLately) {
  AnswerCache cache(2600);
  const auto answer = [] {
    auto kept = std::make_shared<KeptAnswer>();
    auto plan = std::make_unique<v1::FreezePlan>();
    plan->set_study(std::string(500, 'x'));
    kept->message = std::move(plan);
    return kept;
  };
  cache.Keep("a", answer());
  cache.Keep("b", answer());
  EXPECT_NE(cache.Find("a"), nullptr);
  cache.Keep("c", answer());
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_NE(cache.Find("a"), nullptr);
  EXPECT_NE(cache.Find("c"), nullptr);
}

}  // namespace
}  // namespace frostline::server
