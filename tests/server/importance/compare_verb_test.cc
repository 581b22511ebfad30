// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "base/ids.h"
#include "frostline/v1/trial.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/wire_values.h"
#include "server/importance/comparison.h"
#include "server/wire/convert.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Trials compared by what they said of each example.

class CompareVerbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store.status());
    store_ = *std::move(store);
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
    ASSERT_OK(driver_->Register("w", "boot"));
    // Their budgets are used up: from now on only what is enqueued runs.
    for (const char* const id : {"a", "b"}) {
      ASSERT_OK(
          driver_->Call<v1::CreateStudyReply>(ExampleStudy(id, 1)).status());
      ASSERT_OK(driver_->Finish(driver_->AcquireOne("w", "boot"), 0.5));
    }
  }

  // Runs a trial of `study` at this rate, with this seed. Its name.
  std::string Run(const std::string& study, double rate, std::uint64_t seed,
                  const v1::Outcome& outcome) {
    v1::EnqueueTrialsRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(study));
    request.set_raise_budget(true);
    v1::EnqueuedTrial& trial = *request.add_trials();
    trial.set_seed(seed);
    for (const char* const module : {"layer.0", "layer.1"}) {
      (*trial.mutable_values())[module].set_number_value(rate);
    }
    EXPECT_OK(driver_->Call<v1::EnqueueTrialsReply>(request).status());
    const v1::Lease lease = driver_->AcquireOne("w", "boot");
    v1::FinishRequest finish;
    *finish.mutable_lease() = Driver::RefOf(lease);
    *finish.mutable_outcome() = outcome;
    finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    EXPECT_OK(driver_->Call<v1::FinishReply>(finish).status());
    return lease.trial();
  }

  // 80 examples, of which those from … to - 1 are right.
  static v1::Outcome Right(int from, int to, const std::string& data = "dev") {
    v1::Outcome outcome;
    v1::ExampleOutcomes& examples = *outcome.mutable_examples();
    examples.set_data_fingerprint(data);
    examples.set_encoding(v1::ExampleOutcomes::PACKED_BITS);
    examples.set_count(80);
    std::string bits(10, '\0');
    for (int i = from; i < to; ++i) {
      bits[static_cast<std::size_t>(i / 8)] = static_cast<char>(
          static_cast<unsigned char>(bits[static_cast<std::size_t>(i / 8)]) |
          1u << i % 8);
    }
    examples.set_data(bits);
    (*outcome.mutable_metrics())["accuracy"] = (to - from) / 80.0;
    (*outcome.mutable_metrics())["f1"] = 0.5;
    return outcome;
  }

  static v1::CompareTrialsRequest Of(
      const std::vector<std::vector<std::string>>& contenders) {
    v1::CompareTrialsRequest request;
    for (const std::vector<std::string>& trials : contenders) {
      v1::Contender& contender = *request.add_contenders();
      for (const std::string& trial : trials) contender.add_trials(trial);
    }
    return request;
  }
  absl::StatusOr<v1::TrialComparison> Ask(
      const v1::CompareTrialsRequest& request) {
    return driver_->Call<v1::TrialComparison>(request);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(CompareVerbTest, TwoTrialsOfTwoStudiesAreComparedByMcNemar) {
  const std::string one = Run("a", 0.0, 1, Right(0, 40));
  const std::string other = Run("b", 1e-4, 2, Right(2, 52));
  auto request = Of({{one}, {other}});
  request.set_margin(0.01);
  ASSERT_OK_AND_ASSIGN(const v1::TrialComparison found, Ask(request));
  EXPECT_EQ(found.metric(), "accuracy");
  EXPECT_EQ(found.examples(), 80);
  ASSERT_EQ(found.tests_size(), 1);
  const v1::PairedTest& test = found.tests(0);
  EXPECT_EQ(test.method(), v1::PairedTest::MCNEMAR);
  EXPECT_NEAR(test.difference(), 0.125, 1e-12);
  EXPECT_NEAR(test.p(), 0.01293945, 1e-7);  // 12 gained, 2 lost
  EXPECT_TRUE(test.differs());
  EXPECT_TRUE(test.not_worse());
  EXPECT_THAT(test.finding(), HasSubstr(other + " is better than " + one +
                                        " by 12.5 points of accuracy"));
  ASSERT_EQ(found.notes_size(), 1);
  EXPECT_THAT(found.notes(0), HasSubstr("one run of a setting"));
}

TEST_F(CompareVerbTest, WhatCannotBeToldFromNoiseIsSaidSo) {
  const std::string one = Run("a", 0.0, 1, Right(0, 40));
  const std::string other = Run("a", 1e-4, 1, Right(1, 43));
  ASSERT_OK_AND_ASSIGN(const auto found, Ask(Of({{one}, {other}})));
  EXPECT_FALSE(found.tests(0).differs());
  EXPECT_THAT(found.verdict(), HasSubstr("cannot be told apart in accuracy"));
  EXPECT_THAT(found.verdict(), HasSubstr("80 examples cannot show less than"));
}

TEST_F(CompareVerbTest, RepeatsAreFoundAndPairedBySeed) {
  std::string one, other;
  for (int seed = 1; seed <= 3; ++seed) {
    one = Run("a", 0.0, static_cast<std::uint64_t>(seed), Right(0, 38 + seed));
    other =
        Run("a", 1e-4, static_cast<std::uint64_t>(seed), Right(0, 58 + seed));
  }
  auto request = Of({{one}, {other}});
  for (auto& contender : *request.mutable_contenders()) {
    contender.set_with_repeats(true);
  }
  ASSERT_OK_AND_ASSIGN(const auto found, Ask(request));
  EXPECT_EQ(found.contenders(0).runs_size(), 3);
  EXPECT_EQ(found.contenders(1).runs(2).seed(), 2u);
  EXPECT_EQ(found.tests(0).pairs(), 3);
  EXPECT_EQ(found.tests(0).method(), v1::PairedTest::SIGNS);
  EXPECT_TRUE(found.tests(0).differs());
  EXPECT_EQ(found.notes_size(), 0);
}

TEST_F(CompareVerbTest, OtherDataOrNoOutcomesAreRefused) {
  v1::Outcome bare;
  (*bare.mutable_metrics())["accuracy"] = 0.5;
  const std::string one = Run("a", 0.0, 1, Right(0, 40));
  const std::string elsewhere = Run("a", 1e-4, 1, Right(0, 40, "test"));
  const std::string silent = Run("a", 1e-5, 1, bare);
  EXPECT_THAT(Ask(Of({{one}, {elsewhere}})),
              FailsAt(ErrorId::kOutcomesDiffer, "contenders"));
  EXPECT_THAT(Ask(Of({{one}, {silent}})),
              FailsAt(ErrorId::kOutcomesMissing, "contenders"));
  EXPECT_THAT(Ask(Of({{one}, {one}})), FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(Ask(Of({{one}, {"studies/a/trials/77"}})),
              FailsWith(ErrorId::kTrialNotFound));
  const std::string next = Run("a", 1e-5, 5, Right(0, 40));
  EXPECT_THAT(Ask(Of({{one, next}, {silent}})),
              FailsWith(ErrorId::kOutcomesMissing));
}

TEST_F(CompareVerbTest, SettingsWithoutACommonSeedAreRefused) {
  const std::string a1 = Run("a", 0.0, 1, Right(0, 40));
  const std::string a2 = Run("a", 0.0, 2, Right(0, 41));
  const std::string b3 = Run("a", 1e-4, 3, Right(0, 42));
  EXPECT_THAT(Ask(Of({{a1, a2}, {b3}})),
              FailsAt(ErrorId::kSeedsUnpaired, "contenders"));
}

TEST_F(CompareVerbTest, AMetricThatTheOutcomesDoNotHoldIsRefused) {
  const std::string one = Run("a", 0.0, 1, Right(0, 40));
  v1::Outcome lying = Right(0, 40);
  (*lying.mutable_metrics())["accuracy"] = 0.9;
  const std::string other = Run("a", 1e-4, 1, lying);
  auto request = Of({{one}, {other}});
  const auto lies = Ask(request);
  EXPECT_THAT(lies, FailsAt(ErrorId::kMetricUntestable, "metric"));
  EXPECT_THAT(std::string(lies.status().message()), HasSubstr("accuracy"));
  request.set_metric("f1");
  const auto f1 = Ask(request);
  EXPECT_THAT(f1, FailsAt(ErrorId::kMetricUntestable, "metric"));
  EXPECT_EQ(DetailOf(f1.status())->fix,
            "of these outcomes there may be: accuracy");
  request.set_metric("none");
  EXPECT_THAT(Ask(request), FailsWith(ErrorId::kMetricUntestable));
}

// As the contract has them: classes, truth and prediction, sentence ends.
TEST(ReadOutcomes, ClassesValuesAndSentencesAreTakenWhereTheyAre) {
  v1::ExampleOutcomes proto;
  proto.set_count(4);
  for (const char* const name : {"O", "B-X", "I-X"}) proto.add_classes(name);
  proto.set_true_class(std::string("\1\2\0\1", 4));
  proto.set_predicted_class(std::string("\1\2\0\0", 4));
  proto.add_sentence_ends(3);
  proto.add_sentence_ends(4);
  EXPECT_NE(ScoreOf(ReadOutcomes(proto), "f1", 2.0 / 3.0), nullptr);
  EXPECT_EQ(ScoreOf(ReadOutcomes(proto), "f1", 0.7), nullptr);
  EXPECT_TRUE(ScoreOf(ReadOutcomes(proto), "accuracy", 0.75)->by_sentence());
  proto.set_predicted_class(std::string("\1\2\0\7", 4));  // there is no class 7
  EXPECT_EQ(ScoreOf(ReadOutcomes(proto), "accuracy", 0.75), nullptr);
  proto.Clear();
  proto.set_count(2);
  proto.set_true_value(std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // 1, 2
  proto.set_predicted_value(std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
  EXPECT_NE(ScoreOf(ReadOutcomes(proto), "mse", 0.5), nullptr);
  proto.mutable_true_value()->pop_back();
  EXPECT_EQ(ScoreOf(ReadOutcomes(proto), "mse", 0.5), nullptr);
}

TEST(ReadOutcomes, ManyClassesTakeTwoBytes) {
  v1::ExampleOutcomes proto;
  proto.set_count(2);
  for (int i = 0; i < 300; ++i) proto.add_classes(std::to_string(i));
  proto.set_true_class(std::string("\x2b\1\0\0", 4));  // 299, 0
  proto.set_predicted_class(std::string("\x2b\1\1\0", 4));
  EXPECT_NE(ScoreOf(ReadOutcomes(proto), "accuracy", 0.5), nullptr);
  EXPECT_EQ(ReadOutcomes(proto).true_class[0], 299);
}

storage::OutcomeRow Row(v1::ExampleOutcomes::Encoding encoding,
                        std::int64_t count, const std::string& data) {
  storage::OutcomeRow row;
  row.encoding = encoding;
  row.count = count;
  row.data = data;
  return row;
}

std::vector<float> MarksOf(const storage::OutcomeRow& row) {
  return ReadOutcomes(*OutcomesOfSet(row, "", "")).marks;
}

TEST(OutcomeRows, BitsAreReadFromTheLowest) {
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, 10, "\x05\x02")),
              ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 0, 1));
}

TEST(OutcomeRows, HalvesAreLittleEndian) {
  using std::string_literals::operator""s;
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::FLOAT16, 3,
                          "\x00\x3c\x00\xc0\x01\x00"s)),
              ElementsAre(1.0f, -2.0f, std::ldexp(1.0f, -24)));
  EXPECT_TRUE(std::isinf(proto::FromHalf(0x7c00)));
  EXPECT_TRUE(std::isnan(proto::FromHalf(0x7e00)));
}

TEST(OutcomeRows, WhatDoesNotAddUpIsNothing) {
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, 17, "\x05\x02")),
              IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::FLOAT16, 2, "abc")), IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::PACKED_BITS, -1, "")),
              IsEmpty());
  EXPECT_THAT(MarksOf(Row(v1::ExampleOutcomes::ENCODING_UNSPECIFIED, 8, "a")),
              IsEmpty());
}

}  // namespace
}  // namespace frostline::server
