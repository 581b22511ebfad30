// SPDX-License-Identifier: Apache-2.0
//
// Lists, exports and what is of one trial: messages stay small, nobody is read
// for who has hung up, and no list is before a single trial.
#include "server/verbs/reading_verbs.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "gmock/gmock.h"
#include "server/wire/filter.h"
#include "tests/server/counting_fixture.h"

namespace frostline::server {
namespace {

class ReadingTest : public CountingFixture {
 protected:
  void SetUp() override {
    CountingFixture::SetUp();
    v1::ImportTrialsRequest import;
    import.set_request_id(RandomHexId());
    import.set_name("studies/a");
    v1::ImportedTrial* const trial = import.add_trials();
    for (const char* const module : {"layer.0", "layer.1"}) {
      (*trial->mutable_parameters())[module].set_number_value(1e-5);
    }
    trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
    (*trial->mutable_metrics())["accuracy"] = 0.5;
    ASSERT_OK(driver_->Call<v1::ImportTrialsReply>(import));
    ASSERT_OK_AND_ASSIGN(row_, store_->FindTrial(1, 0));
  }

  // Writes behind a coordinator that is down, then starts another.
  void Write(const std::function<absl::Status(storage::Transaction&)>& body) {
    driver_ = nullptr;
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store_->TakeLead());
    {
      ASSERT_OK_AND_ASSIGN(const auto transaction, store_->Begin(epoch));
      ASSERT_OK(transaction->Operation([&] { return body(*transaction); }));
      ASSERT_OK(transaction->Commit());
    }
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
  }

  // Trials like the first one, after it.
  void AddTrials(int count) {
    Write([&](storage::Transaction& transaction) -> absl::Status {
      for (int i = 1; i <= count; ++i) {
        storage::TrialRow row = row_;
        row.number = i;
        row.revision = row.ended_revision = row_.revision + i;
        RETURN_IF_ERROR(transaction.InsertTrial(row));
      }
      return absl::OkStatus();
    });
  }

  // Trial 0 has had so many attempts.
  void AddAttempts(int count, const std::string& cause, std::size_t examples) {
    v1::Outcome outcome;
    outcome.mutable_examples()->set_data(std::string(examples, 'x'));
    Write([&](storage::Transaction& transaction) -> absl::Status {
      storage::TrialRow row = row_;
      row.attempt = count;
      RETURN_IF_ERROR(transaction.UpdateTrial(row, {row.state, 0, {}}));
      for (int i = 1; i <= count; ++i) {
        storage::AttemptRow attempt;
        attempt.study = 1;
        attempt.attempt = i;
        attempt.state = AttemptState::kSuperseded;
        attempt.cause = cause;
        attempt.outcome = outcome.SerializeAsString();
        RETURN_IF_ERROR(transaction.PutAttempt(attempt));
      }
      return absl::OkStatus();
    });
  }

  void AddCurve(int steps) {
    Write([&](storage::Transaction& transaction) {
      std::vector<storage::MeasurementRow> rows;
      for (int step = 1; step <= steps; ++step) {
        rows.push_back(
            {.study = 1,
             .measurement = {.step = step,
                             .metrics = {{"accuracy", 1.0 / step}}}});
      }
      return transaction.AddMeasurements(rows);
    });
  }

  // The pages of all trials, whole; at most ten of them.
  std::vector<v1::ListTrialsReply> Pages() {
    std::vector<v1::ListTrialsReply> pages;
    v1::ListTrialsRequest request;
    request.set_parent("studies/a");
    request.set_view(v1::TRIAL_VIEW_FULL);
    while (pages.size() < 10) {
      auto page = driver_->Call<v1::ListTrialsReply>(request);
      EXPECT_OK(page);
      if (!page.ok()) break;
      request.set_page_token(page->next_page_token());
      pages.push_back(*std::move(page));
      if (request.page_token().empty()) break;
    }
    return pages;
  }

  storage::TrialRow row_;
};

TEST_F(ReadingTest, ATrialWithoutOutcomesIsNotSaidToBeMissing) {
  v1::GetExampleOutcomesRequest request;
  request.set_name("studies/a/trials/0");
  EXPECT_THAT(driver_->Call<v1::ExampleOutcomes>(request),
              FailsAt(ErrorId::kOutcomesMissing, "name"));
  request.set_name("studies/a/trials/1");
  EXPECT_THAT(driver_->Call<v1::ExampleOutcomes>(request),
              FailsWith(ErrorId::kTrialNotFound));
}

TEST_F(ReadingTest, ATrialOfManyMebibytesIsListedWithoutItsExamples) {
  AddAttempts(10, "late", std::size_t{500} << 10);
  AddTrials(2);
  const auto pages = Pages();
  ASSERT_LE(pages.size(), 2u);
  int shown = 0;
  for (const v1::ListTrialsReply& page : pages) {
    EXPECT_LE(page.ByteSizeLong(), kMostPageBytes + 1024);
    shown += page.trials_size();
  }
  EXPECT_EQ(shown, 3);
  const v1::Trial& first = pages[0].trials(0);
  ASSERT_EQ(first.attempts_size(), 10);
  // The newest keep what fits.
  EXPECT_FALSE(first.attempts(0).superseded_outcome().has_examples());
  EXPECT_TRUE(first.attempts(9).superseded_outcome().has_examples());
  v1::GetTrialRequest get;
  get.set_name("studies/a/trials/0");
  EXPECT_LE(driver_->Call<v1::Trial>(get)->ByteSizeLong(), kMostPageBytes);
}

TEST_F(ReadingTest, OfThousandsOfAttemptsTheNewestAreShown) {
  AddAttempts(2'000, std::string(4'000, 'c'), 0);
  const auto pages = Pages();
  ASSERT_EQ(pages.size(), 1u);
  const auto& attempts = pages[0].trials(0).attempts();
  EXPECT_GT(attempts.size(), 700);
  EXPECT_LT(attempts.size(), 800);
  EXPECT_EQ(attempts.rbegin()->number(), 2'000);
  EXPECT_EQ(attempts.begin()->number(), 2'000 - attempts.size() + 1);
}

TEST_F(ReadingTest, OfTheBestAsManyAreShownAsFitIntoAMessage) {
  AddAttempts(2'000, std::string(4'000, 'c'), 0);
  AddTrials(200);
  v1::ListBestTrialsRequest request;
  request.set_name("studies/a");
  request.set_limit(200);
  const auto best = driver_->Call<v1::ListBestTrialsReply>(request);
  ASSERT_OK(best);
  EXPECT_TRUE(best->truncated());
  EXPECT_LT(best->trials_size(), 50);
  EXPECT_EQ(best->trials(0).name(), "studies/a/trials/0");
  EXPECT_LE(best->ByteSizeLong(), kMostPageBytes + 1024);
  request.set_limit(1);
  EXPECT_FALSE(driver_->Call<v1::ListBestTrialsReply>(request)->truncated());
}

TEST_F(ReadingTest, PagesOfACurveAreBoundedInBytes) {
  Write([](storage::Transaction& transaction) {
    std::vector<storage::MeasurementRow> rows(400);
    for (std::int64_t step = 0; step < 400; ++step) {
      storage::MeasurementRow& row = rows[static_cast<std::size_t>(step)];
      row.study = 1;
      row.measurement.step = step;
      for (int m = 0; m < 64; ++m) {
        const std::string name = absl::StrCat(std::string(200, 'm'), m);
        row.measurement.metrics[name] = m;
      }
    }
    return transaction.AddMeasurements(rows);
  });
  v1::ListMeasurementsRequest request;
  request.set_name("studies/a/trials/0");
  request.set_page_size(1'000);
  std::vector<std::int64_t> steps;
  int pages = 0;
  do {
    const auto page = driver_->Call<v1::ListMeasurementsReply>(request);
    ASSERT_OK(page);
    EXPECT_LE(page->ByteSizeLong(), kMostPageBytes + 8 * 1024);
    for (const auto& measured : page->measurements()) {
      steps.push_back(measured.step());
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && ++pages < 10);
  EXPECT_EQ(pages, 1);
  ASSERT_EQ(steps.size(), 400u);
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(steps[i], static_cast<std::int64_t>(i));
  }
  request.set_downsample_to(400);
  const auto few = driver_->Call<v1::ListMeasurementsReply>(request);
  ASSERT_OK(few);
  EXPECT_LE(few->ByteSizeLong(), kMostPageBytes);
  EXPECT_EQ(few->measurements(0).step(), 0);
  EXPECT_EQ(few->measurements().rbegin()->step(), 399);
}

TEST_F(ReadingTest, APageTokenOfOneCurveIsNoneOfAnother) {
  AddTrials(1);
  AddCurve(10);
  v1::ListMeasurementsRequest request;
  request.set_name("studies/a/trials/0");
  request.set_page_size(4);
  const auto page = driver_->Call<v1::ListMeasurementsReply>(request);
  ASSERT_OK(page);
  ASSERT_NE(page->next_page_token(), "");
  request.set_page_token(page->next_page_token());
  EXPECT_OK(driver_->Call<v1::ListMeasurementsReply>(request));
  request.set_name("studies/a/trials/1");
  EXPECT_THAT(driver_->Call<v1::ListMeasurementsReply>(request),
              FailsWith(ErrorId::kPageTokenInvalid));
}

TEST_F(ReadingTest, AnExportIsCutIntoChunksOfAMebibyteEvenInsideATrial) {
  AddTrials(1'200);
  AddCurve(40'000);
  v1::ExportTrialsRequest request;
  request.set_name("studies/a");
  request.set_with_measurements(true);
  const auto chunks = [&] {
    std::vector<std::string> data;
    const NextMessages stream = driver_->Begin(request);
    while (true) {
      auto next = Driver::Next<v1::ExportChunk>(stream);
      EXPECT_OK(next);
      if (!next.ok() || next->empty()) return data;
      for (const v1::ExportChunk& chunk : *next) data.push_back(chunk.data());
    }
  };
  store_->TakeReads();
  const std::vector<std::string> cut = chunks();
  // No row is read twice: 1,201 trials in pages of 500.
  EXPECT_EQ(store_->TakeReads(), 3);
  std::string whole;
  for (const std::string& chunk : cut) {
    EXPECT_LE(chunk.size(), kMostChunkBytes);
    EXPECT_FALSE(chunk.empty());
    whole += chunk;
  }
  EXPECT_GT(cut.size(), 4u);
  EXPECT_EQ(cut.size(), (whole.size() - 1) / kMostChunkBytes + 1);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 1'201 + 40'000);
  // The same bytes as of its parts.
  std::string parts;
  for (const char* const part : {"number = 0", "number > 0"}) {
    request.set_filter(part);
    for (const std::string& chunk : chunks()) parts += chunk;
  }
  EXPECT_TRUE(parts == whole);
  EXPECT_THAT(whole, ::testing::HasSubstr("\"step\":\"40000\""));
}

TEST_F(ReadingTest, AListIsReadNoFurtherForWhoHasHungUp) {
  AddTrials(5'000);
  v1::ListTrialsRequest request;
  request.set_parent("studies/a");
  request.set_filter("values[0] > 2");  // none
  store_->TakeReads();
  store_->Hold();
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto list = driver_->Start<v1::ListTrialsReply>(request, cancelled);
  while (store_->TakeReads() == 0) std::this_thread::yield();
  cancelled->store(true);
  store_->LetGo();
  EXPECT_TRUE(absl::IsCancelled(list.get().status()));
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(ReadingTest, WhatIsOfOneTrialWaitsForNoList) {
  store_->Hold();
  v1::ListTrialsRequest request;
  request.set_parent("studies/a");
  std::vector<std::future<absl::StatusOr<v1::ListTrialsReply>>> lists;
  for (int i = 0; i < 40; ++i) {
    lists.push_back(driver_->Start<v1::ListTrialsReply>(request));
  }
  const std::string name = "studies/a/trials/0";
  v1::GetTrialRequest get;
  get.set_name(name);
  EXPECT_OK(driver_->Call<v1::Trial>(get));
  v1::ListMeasurementsRequest curve;
  curve.set_name(name);
  EXPECT_OK(driver_->Call<v1::ListMeasurementsReply>(curve));
  v1::GetTrialLogRequest log;
  log.set_name(name);
  EXPECT_OK(driver_->Call<v1::GetTrialLogReply>(log));
  EXPECT_OK(driver_->GetStudy("a"));
  // So many lists are read side by side in the end: a thread more whenever all
  // are stuck.
  std::size_t reads = 0;
  while (reads < CoordinatorOptions().most_reader_threads) {
    reads += static_cast<std::size_t>(store_->TakeReads());
    clock_.Advance(std::chrono::milliseconds(20));
    EXPECT_OK(driver_->GetStudy("a"));
  }
  EXPECT_EQ(reads, CoordinatorOptions().most_reader_threads);
  store_->LetGo();
  for (auto& list : lists) EXPECT_OK(list.get());
}

}  // namespace
}  // namespace frostline::server
