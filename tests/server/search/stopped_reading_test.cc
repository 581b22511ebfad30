// SPDX-License-Identifier: Apache-2.0
//
// The coordinator's end does not wait for what a search reads, of its own study
// or of a prior one. Counted in pages that the store is asked for.
#include <future>
#include <limits>
#include <stop_token>

#include "gtest/gtest.h"
#include "server/search/stored_history.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr WallMicros kEverReading = std::numeric_limits<WallMicros>::max();
constexpr int kPages = 4;

// A study "old" of a few pages of trials, to read it or learn from it.
class StoppedReading : public ::testing::Test {
 protected:
  StoppedReading()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(std::make_unique<Driver>(store_, clock_)) {
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("old", 5)));
    constexpr int kPerCall = storage::kScanPage / 2;
    for (int i = 0; i < 2 * kPages - 1; ++i) {
      v1::ImportTrialsRequest request;
      request.set_request_id(RandomHexId());
      request.set_name("studies/old");
      for (int k = 0; k < kPerCall; ++k) AddTrial(request);
      EXPECT_OK(driver_->Call<v1::ImportTrialsReply>(request));
    }
    const storage::StudyRow row = *store_.FindStudy("old");
    const v1::CreateStudyRequest example = ExampleStudy("old", 5);
    opening_.row = row;
    opening_.checked = std::make_shared<const CheckedStudy>(
        *CheckStudy(example.spec(), example.settings(), ExampleLease()));
    opening_.next_number = std::numeric_limits<std::int64_t>::max();
    v1::CreateStudyRequest young = ExampleStudy("young", 5);
    young.mutable_spec()->add_warm_start()->set_study("studies/old");
    young_ = *CheckStudy(young.spec(), young.settings(), ExampleLease());
    store_.TakeReads();
  }

  static void AddTrial(v1::ImportTrialsRequest& request) {
    v1::ImportedTrial& trial = *request.add_trials();
    trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
    for (const char* const layer : {"layer.0", "layer.1"}) {
      (*trial.mutable_parameters())[layer].set_number_value(0.0);
    }
    (*trial.mutable_metrics())["accuracy"] = 0.5;
  }

  // Is stopped while it waits for its first page.
  absl::Status Stopped(
      const std::function<absl::Status(const std::stop_token&)>& read) {
    std::stop_source source;
    store_.Hold();
    auto answer = std::async(std::launch::async,
                             [&] { return read(source.get_token()); });
    std::int64_t pages = 0;
    while (pages == 0) pages = store_.TakeReads();
    source.request_stop();
    store_.LetGo();
    return answer.get();
  }

  FakeClock clock_;
  CountingStore store_;
  std::unique_ptr<Driver> driver_;
  Opening opening_;
  CheckedStudy young_;
};

TEST_F(StoppedReading, OfAHistoryAsksForNoOtherPage) {
  const auto read = [&](const std::stop_token& stop) {
    return ReadHistory(opening_, store_, stop).status();
  };
  ASSERT_OK(read({}));
  EXPECT_EQ(store_.TakeReads(), kPages);
  EXPECT_TRUE(absl::IsCancelled(Stopped(read)));
  EXPECT_EQ(store_.TakeReads(), 0);
}

TEST_F(StoppedReading, OfPriorStudiesAsksForNoOtherPage) {
  const auto create = [&](const std::stop_token& stop) {
    return LoadPriorStudies(young_, kEverReading, store_, stop).status();
  };
  ASSERT_OK(create({}));
  EXPECT_EQ(store_.TakeReads(), kPages);
  EXPECT_TRUE(absl::IsCancelled(Stopped(create)));
  EXPECT_EQ(store_.TakeReads(), 0);
}

// What is gone is done without, but not what was not read to its end.
TEST_F(StoppedReading, OfPriorStudiesOfALoadedOneSaysSo) {
  const auto open = [&](const std::stop_token& stop) {
    storage::StudyRow row = opening_.row;
    row.created = kEverReading;
    const auto priors = PriorStudiesLeft(row, young_, store_, stop);
    if (priors.ok()) {
      EXPECT_EQ(priors->size(), 1u);
    }
    return priors.status();
  };
  ASSERT_OK(open({}));
  EXPECT_EQ(store_.TakeReads(), kPages);
  EXPECT_TRUE(absl::IsCancelled(Stopped(open)));
  EXPECT_EQ(store_.TakeReads(), 0);
}

}  // namespace
}  // namespace frostline::server
