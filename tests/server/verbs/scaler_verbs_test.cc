// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/dispatch/supply.h"
#include "server/verbs/worker_verbs.h"
#include "server/wire/scaler_query.h"
#include "server/wire/validate.h"
#include "storage/factory.h"
#include "tests/contract/forwarding_store.h"
#include "tests/server/driver.h"
#include "tests/server/ledger/ledger_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using externalscaler::GetMetricsRequest;
using externalscaler::GetMetricsResponse;
using externalscaler::IsActiveResponse;
using externalscaler::ScaledObjectRef;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// What KEDA is told, by a clock that stands still: what a stream hears without
// a change of a study, and how soon after one.

// Its disk is as full as a test says.
class StoreWithRoom final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  storage::DiskRoom RoomLeft() const override { return {.room = room_}; }
  void SetRoom(storage::Room room) { room_ = room; }

 private:
  std::atomic<storage::Room> room_ = storage::Room::kAmple;
};

class ScalerVerbsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store);
    store_ = std::make_unique<StoreWithRoom>(*std::move(store));
    driver_ = std::make_unique<Driver>(*store_, clock_);
  }
  static ScaledObjectRef Object() {
    ScaledObjectRef object;
    object.set_name("frostline-worker");
    object.set_namespace_("frostline");
    return object;
  }
  void Create(std::int64_t trials) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", trials)));
  }
  std::int64_t Unclaimed() {
    GetMetricsRequest request;
    *request.mutable_scaledobjectref() = Object();
    request.set_metricname(kUnclaimedTrials);
    const auto reply = driver_->Call<GetMetricsResponse>(request);
    EXPECT_OK(reply);
    return reply.ok() ? reply->metricvalues(0).metricvalue() : -1;
  }
  // A stream's next word.
  using Word = std::shared_ptr<std::promise<bool>>;
  static std::future<bool> Ask(const NextMessages& stream) {
    const Word word = std::make_shared<std::promise<bool>>();
    stream([word](absl::StatusOr<std::vector<MessagePtr>> answer) {
      if (!answer.ok() || answer->empty()) return;
      word->set_value(
          static_cast<const IsActiveResponse&>(*answer->front()).result());
    });
    return word->get_future();
  }
  // Whoever was to be told has been: the loop has ended a group since.
  void LetTheLoopTurn() {
    driver_->Waiting();
    driver_->Waiting();
  }
  static bool HasWord(const std::future<bool>& word) {
    return word.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  FakeClock clock_;
  std::unique_ptr<StoreWithRoom> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(ScalerVerbsTest, AStreamIsLookedAtAFifthOfASecondAfterAChange) {
  const NextMessages stream = driver_->Begin(Object());
  EXPECT_FALSE(Ask(stream).get());
  std::future<bool> word = Ask(stream);
  LetTheLoopTurn();  // it waits before the change comes
  Create(1);
  LetTheLoopTurn();
  EXPECT_FALSE(HasWord(word));
  clock_.Advance(std::chrono::milliseconds(200));
  LetTheLoopTurn();
  ASSERT_TRUE(HasWord(word));
  EXPECT_TRUE(word.get());
}

TEST_F(ScalerVerbsTest, ADiskThatIsFullNeedsNoWorkersAndStreamsHearOfIt) {
  Create(8);
  const NextMessages stream = driver_->Begin(Object());
  EXPECT_TRUE(Ask(stream).get());
  EXPECT_EQ(Unclaimed(), 8);
  std::future<bool> word = Ask(stream);
  store_->SetRoom(storage::Room::kNoNewLeases);
  clock_.Advance(std::chrono::minutes(1));
  LetTheLoopTurn();
  EXPECT_EQ(Unclaimed(), 0);
  ASSERT_TRUE(HasWord(word));
  EXPECT_FALSE(word.get());
}

TEST_F(ScalerVerbsTest, AWorkerBetweenTwoTrialsHasItsNextOne) {
  Create(8);
  ASSERT_OK(driver_->Register("w", "boot"));
  const v1::Lease lease = driver_->AcquireOne("w", "boot");
  EXPECT_EQ(Unclaimed(), 7);
  ASSERT_OK(driver_->Finish(lease, 0.5));
  EXPECT_EQ(Unclaimed(), 6);
  driver_->AcquireOne("w", "boot");
  EXPECT_EQ(Unclaimed(), 6);
}

externalscaler::ScaledObjectRef ObjectOf(
    const std::map<std::string, std::string>& metadata) {
  externalscaler::ScaledObjectRef object;
  object.set_name("frostline-worker");
  object.set_namespace_("frostline");
  object.mutable_scalermetadata()->insert(metadata.begin(), metadata.end());
  return object;
}

absl::StatusOr<ScalerQuery> Parse(
    const std::map<std::string, std::string>& metadata) {
  return ParseScalerQuery(ObjectOf(metadata));
}

TEST(ScalerQueryTest, WithoutKeysItIsOfAllStudiesAndOneTrialAWorker) {
  ASSERT_OK_AND_ASSIGN(const ScalerQuery query, Parse({}));
  EXPECT_EQ(query.study, "");
  EXPECT_TRUE(query.labels.empty());
  EXPECT_EQ(query.slots, 1);
}

TEST(ScalerQueryTest, ReadsOurKeysAndPassesOverThoseOfKeda) {
  ASSERT_OK_AND_ASSIGN(const ScalerQuery query,
                       Parse({{"scalerAddress", "coordinator:7070"},
                              {"enableTLS", "true"},
                              {"unsafeSsl", "false"},
                              {"study", "imdb"},
                              {"labels", "gpu=a100,zone=b=c"},
                              {"slots", "4"}}));
  EXPECT_EQ(query.study, "studies/imdb");
  EXPECT_THAT(query.labels,
              UnorderedElementsAre(Pair("gpu", "a100"), Pair("zone", "b=c")));
  EXPECT_EQ(query.slots, 4);
}

TEST(ScalerQueryTest, AStudyMayHaveItsWholeName) {
  EXPECT_EQ(Parse({{"study", "studies/imdb"}})->study, "studies/imdb");
}

// KEDA puts the variable's value in its place and keeps the key.
TEST(ScalerQueryTest, AKeyMayComeFromAVariable) {
  EXPECT_EQ(Parse({{"studyFromEnv", "imdb"}})->study, "studies/imdb");
  EXPECT_THAT(Parse({{"studyFromEnv", "imdb"}, {"study", "imdb"}}),
              FailsAt(ErrorId::kRequestInvalid, "scalerMetadata.studyFromEnv"));
}

struct Bad {
  std::map<std::string, std::string> metadata;
  ErrorId id;
  const char* field;
};

TEST(ScalerQueryTest, EachMistakeIsNamed) {
  const std::string long_text(5'000, 'x');
  std::map<std::string, std::string> many;
  for (int i = 0; i < 17; ++i) many["k" + std::to_string(i)] = "";
  const Bad bads[] = {
      {{{"stduy", "imdb"}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{"", "imdb"}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{"FromEnv", ""}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{long_text, ""}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {many, ErrorId::kFieldTooLarge, "scalerMetadata"},
      {{{"labels", long_text}}, ErrorId::kFieldTooLarge, "scalerMetadata"},
      {{{"study", ""}}, ErrorId::kNameInvalid, "scalerMetadata.study"},
      {{{"study", "A b"}}, ErrorId::kNameInvalid, "scalerMetadata.study"},
      {{{"study", "studies/a/trials/1"}},
       ErrorId::kNameInvalid,
       "scalerMetadata.study"},
      {{{"labels", ""}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "gpu"}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "=a"}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "a=1,a=2"}},
       ErrorId::kRequestInvalid,
       "scalerMetadata.labels"},
      {{{"labels", std::string(257, 'k') + "=v"}},
       ErrorId::kFieldTooLarge,
       "scalerMetadata.labels"},
      {{{"slots", ""}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "two"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "1.5"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "0"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "1025"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"}};
  for (const Bad& bad : bads) {
    EXPECT_THAT(Parse(bad.metadata), FailsAt(bad.id, bad.field))
        << bad.metadata.begin()->first.substr(0, 20);
  }
}

TEST(ScalerQueryTest, AnUnknownKeyIsShownWithThoseThatThereAre) {
  const absl::Status status = Parse({{"stduy", "imdb"}}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("stduy"));
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("study, labels or slots"));
}

TEST(ScalerQueryTest, AnObjectHasANameAndANamespace) {
  externalscaler::ScaledObjectRef object = ObjectOf({});
  object.clear_name();
  EXPECT_THAT(Validate(object), FailsAt(ErrorId::kRequestInvalid, "name"));
  object = ObjectOf({});
  object.clear_namespace_();
  EXPECT_THAT(Validate(object), FailsAt(ErrorId::kRequestInvalid, "namespace"));
  object.set_namespace_(std::string(254, 'n'));
  EXPECT_THAT(Validate(object), FailsAt(ErrorId::kFieldTooLarge, "namespace"));
}

TEST(ScalerQueryTest, ThereIsOneMetric) {
  externalscaler::GetMetricsRequest request;
  *request.mutable_scaledobjectref() = ObjectOf({});
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "metricName"));
  // KEDA takes its own prefix away before it asks.
  request.set_metricname(std::string("s0-") + kUnclaimedTrials);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "metricName"));
  request.set_metricname(kUnclaimedTrials);
  EXPECT_OK(Validate(request));
}

// Field by field what KEDA's own stubs write and read.
TEST(ScalerQueryTest, TheBytesAreThoseOfKeda) {
  externalscaler::GetMetricsResponse response;
  auto& value = *response.add_metricvalues();
  value.set_metricname("m");
  value.set_metricvalue(5);
  value.set_metricvaluefloat(2.0);
  EXPECT_EQ(response.SerializeAsString(),
            std::string("\x0a\x0e\x0a\x01m\x10\x05\x19\0\0\0\0\0\0\0@", 16));
  externalscaler::GetMetricSpecResponse specs;
  auto& spec = *specs.add_metricspecs();
  spec.set_metricname("m");
  spec.set_targetsize(5);
  spec.set_targetsizefloat(2.0);
  EXPECT_EQ(specs.SerializeAsString(), response.SerializeAsString());
  externalscaler::GetMetricsRequest request;
  ASSERT_TRUE(request.ParseFromString(
      "\x0a\x0e\x0a\x01w\x12\x01n\x1a\x06\x0a\x01k\x12\x01v\x12\x01m"));
  EXPECT_EQ(request.scaledobjectref().name(), "w");
  EXPECT_EQ(request.scaledobjectref().namespace_(), "n");
  EXPECT_EQ(request.scaledobjectref().scalermetadata().at("k"), "v");
  EXPECT_EQ(request.metricname(), "m");
  externalscaler::IsActiveResponse active;
  active.set_result(true);
  EXPECT_EQ(active.SerializeAsString(), "\x08\x01");
}

class UnclaimedTest : public LedgerFixture {
 protected:
  UnclaimedTest() { Use("random", 200, 0); }

  void Use(const std::string& sampler, std::int64_t budget, int max_parallel) {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_sampler()->set_name(sampler);
    spec.set_purpose(v1::PURPOSE_BEST);
    v1::StudySettings settings = ExampleStudy("a", budget).settings();
    settings.set_max_parallel(max_parallel);
    book_->AbsorbSettings(std::make_shared<const CheckedStudy>(
        *CheckStudy(spec, settings, ExampleLease())));
  }
  void Run(int trials) {
    for (int i = 0; i < trials; ++i) AddRunning();
  }
  void Queue(int trials) {
    for (int i = 0; i < trials; ++i) AddQueued();
  }
  void Put(storage::StudyState state) {
    ASSERT_OK(ledger_.SetState(*batch_, *book_, state, "test"));
  }
  std::int64_t Count() {
    TeachingLimit teaching_limit;
    return CountUnclaimed(*book_, teaching_limit, clock_.Wall());
  }
  // What is left of it when those who are expected have taken theirs.
  std::int64_t LeftBy(const ExpectedSlots& expected) {
    std::vector<Unclaimed> all = {{book_, Count()}};
    expected.TakeOff(ledger_, clock_.Steady(), all);
    return all[0].trials;
  }
};

TEST_F(UnclaimedTest, WhatDoesNotLookAtResultsCanUseTheWholeBudget) {
  EXPECT_EQ(Count(), 200);
  Run(30);
  Queue(5);
  EXPECT_EQ(Count(), 170);
}

// Ten trials of tpe are drawn before it looks at a result.
TEST_F(UnclaimedTest, ASamplerIsGivenNoMoreWorkersThanItLearnsFrom) {
  Use("tpe", 200, 0);
  EXPECT_EQ(Count(), 10);
  Run(4);
  EXPECT_EQ(Count(), 6);
  Queue(2);  // whether they wait or are not proposed yet is the same
  EXPECT_EQ(Count(), 6);
  Run(6);
  EXPECT_EQ(Count(), 2);
}

TEST_F(UnclaimedTest, WhatAPersonAddedIsNeverHeldBack) {
  Use("tpe", 200, 0);
  Run(10);
  EXPECT_EQ(Count(), 0);
  Queue(3);
  EXPECT_EQ(Count(), 3);
}

TEST_F(UnclaimedTest, WhoSetsMaxParallelHasDecided) {
  Use("tpe", 200, 64);
  EXPECT_EQ(Count(), 64);
  Run(60);
  EXPECT_EQ(Count(), 4);
  Queue(9);
  EXPECT_EQ(Count(), 4);
  Run(4);
  EXPECT_EQ(Count(), 0);
}

TEST_F(UnclaimedTest, TheBudgetBoundsIt) {
  Use("tpe", 7, 0);
  EXPECT_EQ(Count(), 7);
  Run(5);
  EXPECT_EQ(Count(), 2);
  Run(2);
  EXPECT_EQ(Count(), 0);
}

// Samplers are object for those who wait.
TEST_F(UnclaimedTest, WhatIsBeingProposedHasItsWorkerAlready) {
  Use("random", 20, 0);
  book_->Reserve(3);
  EXPECT_EQ(Count(), 17);
  Use("tpe", 200, 0);
  EXPECT_EQ(Count(), 7);
  Use("tpe", 200, 4);
  EXPECT_EQ(Count(), 1);
}

// From the end of a trial to the beginning of the worker's next it stays the
// same, wherever the proposal is.
TEST_F(UnclaimedTest, WhoIsAboutToAskHasATrialAlready) {
  Use("random", 20, 0);
  ExpectedSlots expected;
  EXPECT_EQ(LeftBy(expected), 20);
  expected.Expect("w", 1, clock_.Steady());
  EXPECT_EQ(LeftBy(expected), 19);
  book_->Reserve(1);
  EXPECT_EQ(LeftBy(expected), 19);
  book_->Arrived();
  AddQueued();
  EXPECT_EQ(LeftBy(expected), 19);
  clock_.Advance(std::chrono::seconds(5));  // it did not come
  EXPECT_EQ(LeftBy(expected), 20);
}

TEST_F(UnclaimedTest, WhoCannotServeAStudyTakesNothingOfIt) {
  ExpectedSlots expected;
  expected.Expect("nobody", 3, clock_.Steady());
  EXPECT_EQ(LeftBy(expected), 200);
}

TEST_F(UnclaimedTest, APausedStudyHasNoneAndAResumedOneHas) {
  Queue(2);
  Put(storage::StudyState::kPaused);
  EXPECT_EQ(Count(), 0);
  Put(storage::StudyState::kActive);
  EXPECT_EQ(Count(), 200);
  Put(storage::StudyState::kStopped);
  EXPECT_EQ(Count(), 0);
}

TEST_F(UnclaimedTest, ATrialThatLostItsWorkerIsCountedAgain) {
  Use("random", 1, 0);
  const TrialKey trial = AddRunning();
  EXPECT_EQ(Count(), 0);
  const auto given_back =
      Release(*book_->Find(trial.number), {1, SecretString("secret")},
              AttemptState::kPreempted, "", "the node went", clock_.Wall());
  ASSERT_OK(given_back);
  ASSERT_OK(ledger_.Apply(*batch_, *book_, *given_back));
  EXPECT_EQ(Count(), 1);
}

}  // namespace
}  // namespace frostline::server
