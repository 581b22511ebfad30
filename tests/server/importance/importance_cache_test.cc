// SPDX-License-Identifier: Apache-2.0
//
// What importance does not do twice. Counted at the store, not timed.
#include <map>

#include "google/protobuf/util/message_differencer.h"
#include "server/importance/desk.h"
#include "tests/server/importance/importance_fixture.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;

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
  AnswerCache cache(2600, 1);
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
