// SPDX-License-Identifier: Apache-2.0
#include "server/search/proposer.h"

#include <atomic>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/search/sampler_choice.h"
#include "server/search/stored_history.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/server/example_study.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using ::testing::Optional;

const std::vector<Objective> kAccuracy = {{"accuracy", Direction::kMaximize}};
constexpr RepeatRule kThreeOfTwo = {.times = 3, .leaders = 2, .after = 0};

// Trials 0, 1, 2, … of one parameter.
class Trials {
 public:
  Trials& Succeeded(double x, double value, std::uint64_t seed = 0) {
    return Put(x, TrialState::kSucceeded, {value}, seed);
  }
  Trials& Put(double x, TrialState state, std::vector<double> values = {},
              std::uint64_t seed = 0) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history.size());
    trial.state = state;
    trial.point = {x};
    trial.values = std::move(values);
    trial.seed = seed;
    history.Put(std::move(trial));
    return *this;
  }
  std::optional<Point> Next(const RepeatRule& rule = kThreeOfTwo) const {
    return LeaderToRepeat(rule, kAccuracy, history,
                          static_cast<std::int64_t>(history.size()));
  }

  History history;
};

TEST(LeaderRepeats, TheBestPointsRunUntilEachHasItsRuns) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Succeeded(3, .8).Succeeded(4, .6);
  std::vector<double> repeated;
  while (const auto next = trials.Next()) {
    repeated.push_back((*next)[0]);
    trials.Succeeded((*next)[0], (*next)[0] == 2 ? .9 : .8);
  }
  EXPECT_THAT(repeated, ElementsAre(2, 3, 2, 3));
}

TEST(LeaderRepeats, APointThatLedByLuckGivesItsPlaceUp) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .95).Succeeded(3, .8).Succeeded(4, .79);
  trials.Succeeded(2, .4).Succeeded(3, .8).Succeeded(3, .8);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(4)));
}

// All would fall with the second seed; what ran with it does not make way for
// what did not.
TEST(LeaderRepeats, ASeedThatIsBadForAllIsHeldAgainstNone) {
  Trials trials;
  trials.Succeeded(1, .5, 1).Succeeded(2, .8, 1).Succeeded(3, .81, 1);
  trials.Succeeded(4, .795, 1);
  trials.Succeeded(3, .71, 2).Succeeded(2, .7, 2);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(3)));
  trials.Succeeded(3, .76, 3);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(2)));
}

TEST(LeaderRepeats, APointSeenOnceMustBeMuchBetterThanOneSeenOften) {
  constexpr RepeatRule kOne = {.times = 3, .leaders = 1, .after = 0};
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .8);
  for (int i = 0; i < 3; ++i) trials.Succeeded(3, .9);
  trials.Succeeded(4, .91);
  EXPECT_EQ(trials.Next(kOne), std::nullopt);
  trials.Succeeded(5, 1.2);
  EXPECT_THAT(trials.Next(kOne), Optional(ElementsAre(5)));
}

TEST(LeaderRepeats, NothingIsRepeatedWithoutARuleOrAResult) {
  Trials trials;
  EXPECT_EQ(trials.Next(), std::nullopt);
  trials.Put(1, TrialState::kRunning).Put(2, TrialState::kFailed);
  trials.Put(3, TrialState::kPruned, {.7});
  EXPECT_EQ(trials.Next(), std::nullopt);
  trials.Succeeded(4, .5);
  EXPECT_EQ(trials.Next(RepeatRule()), std::nullopt);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(4)));
}

TEST(LeaderRepeats, RunsThatWaitOrFailedCountSoThatNoneGoesOnForEver) {
  Trials trials;
  trials.Succeeded(1, .5).Put(1, TrialState::kRunning);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(1)));
  trials.Put(1, TrialState::kFailed);
  EXPECT_EQ(trials.Next(), std::nullopt);
}

TEST(LeaderRepeats, APointThatDivergedAtSomeSeedDoesNotLead) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Put(2, TrialState::kInfeasible);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(1)));
}

TEST(LeaderRepeats, OfSeveralObjectivesTheFrontLeads) {
  const std::vector<Objective> two = {{"accuracy", Direction::kMaximize},
                                      {"seconds", Direction::kMinimize}};
  Trials trials;
  trials.Put(1, TrialState::kSucceeded, {.9, 10});
  trials.Put(2, TrialState::kSucceeded, {.5, 1});
  trials.Put(3, TrialState::kSucceeded, {.4, 20});  // worse than both
  const auto next = [&] {
    return LeaderToRepeat({2, 3, 0}, two, trials.history, 99);
  };
  ASSERT_THAT(next(), Optional(ElementsAre(1)));
  trials.Put(1, TrialState::kSucceeded, {.9, 10});
  ASSERT_THAT(next(), Optional(ElementsAre(2)));
  trials.Put(2, TrialState::kSucceeded, {.5, 1});
  EXPECT_EQ(next(), std::nullopt);
}

TEST(LeaderRepeats, SeesOnlyTrialsNumberedBelow) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Succeeded(2, .9).Succeeded(1, .6);
  EXPECT_EQ(RunsBefore(trials.history, {2}, 2), 1);
  EXPECT_EQ(RunsBefore(trials.history, {2}, 4), 2);
  EXPECT_EQ(RunsBefore(trials.history, {7}, 4), 0);
  EXPECT_THAT(LeaderToRepeat({2, 1, 0}, kAccuracy, trials.history, 1),
              Optional(ElementsAre(1)));
}

// The order in which trials became known is no property of the study.
TEST(LeaderRepeats, TheOrderOfEndsDoesNotMatter) {
  Trials forward;
  for (int i = 0; i < 30; ++i) forward.Succeeded(i % 7, i % 7 < 4 ? .9 : .5);
  History backward;
  for (int i = 29; i >= 0; --i)
    backward.Put(forward.history.trials()[static_cast<std::size_t>(i)]);
  for (std::int64_t number = 10; number < 31; ++number) {
    const auto a =
        LeaderToRepeat({9, 3, 0}, kAccuracy, forward.history, number);
    const auto b = LeaderToRepeat({9, 3, 0}, kAccuracy, backward, number);
    EXPECT_EQ(a, b) << number;
  }
}

// What a proposer hands over, kept.
class ProposerTest : public ::testing::Test {
 protected:
  ProposerTest()
      : proposer_([this](Proposals made) { Keep(std::move(made)); }) {}

  void Keep(Proposals made) {
    if (on_made_) on_made_(made);
    const std::lock_guard<std::mutex> lock(mutex_);
    handed_over_.push_back(std::move(made));
    if (on_ready_) on_ready_();
  }
  void Open(storage::StudyKey study, const std::string& sampler) {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_sampler()->set_name(sampler);
    proposer_.Open(
        study,
        std::make_shared<const CheckedStudy>(*CheckStudy(
            spec, ExampleStudy("a", 100).settings(), ExampleLease())),
        History(), {});
  }

  // Waits until so many were handed over, and stops the threads.
  void StopAfter(std::size_t count) {
    const auto enough = [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return handed_over_.size() >= count;
    };
    while (!enough()) std::this_thread::yield();
    proposer_.Stop();
  }

  static std::shared_ptr<const CheckedStudy> Checked(
      const v1::StudySettings& settings) {
    return std::make_shared<const CheckedStudy>(
        *CheckStudy(ExampleSpec(), settings, ExampleLease()));
  }
  // Stops whatever measures below .5.
  static std::shared_ptr<const CheckedStudy> Pruning() {
    v1::StudySettings settings = ExampleStudy("a", 100).settings();
    settings.mutable_pruner()->set_name("threshold");
    (*settings.mutable_pruner()->mutable_options())["lower"] = "0.5";
    return Checked(settings);
  }
  sampler::PruneDecision Judged(storage::StudyKey study, std::int64_t number) {
    std::promise<sampler::PruneDecision> judged;
    proposer_.Judge(study, number, [&](const sampler::PruneDecision& decision) {
      judged.set_value(decision);
    });
    return judged.get_future().get();
  }

  std::mutex mutex_;
  std::vector<Proposals> handed_over_;
  std::function<void()> on_ready_;
  std::function<void(const Proposals&)> on_made_;  // without the lock
  Proposer proposer_;
};

TEST_F(ProposerTest, HandsOverEachProposalWhenItIsMade) {
  Open(1, "random");
  proposer_.Propose(1, 7, 3, 42);
  proposer_.Start();
  StopAfter(3);
  ASSERT_EQ(handed_over_.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(handed_over_[i].made.size(), 1u);
    EXPECT_EQ(handed_over_[i].made[0].number, 7 + static_cast<int>(i));
    EXPECT_EQ(handed_over_[i].seen_revision, 42);
    EXPECT_OK(handed_over_[i].status);
  }
}

TEST_F(ProposerTest, SaysHowManyWillNotComeWhenTheSpaceIsUsedUp) {
  Open(1, "brute");  // nine points
  proposer_.Propose(1, 0, 12, 0);
  proposer_.Start();
  StopAfter(10);
  ASSERT_EQ(handed_over_.size(), 10u);
  EXPECT_THAT(handed_over_.back().status, FailsWith(ErrorId::kSpaceExhausted));
  EXPECT_EQ(handed_over_.back().first_number, 9);
  EXPECT_EQ(handed_over_.back().asked, 3);
}

TEST_F(ProposerTest, AStopWaitsForOneProposalAndForEveryJudgement) {
  Open(1, "random");
  std::promise<void> first, stopping;
  std::atomic<int> calls = 0;
  on_ready_ = [&] {
    if (calls++ > 0) return;
    first.set_value();
    stopping.get_future().wait();
  };
  proposer_.Propose(1, 0, 1000, 0);
  bool judged = false;
  proposer_.Judge(1, 0, [&](const sampler::PruneDecision&) { judged = true; });
  proposer_.Start();
  first.get_future().wait();
  std::thread stop([&] { proposer_.Stop(); });
  while (!proposer_.stopping()) std::this_thread::yield();
  stopping.set_value();
  stop.join();
  EXPECT_EQ(handed_over_.size(), 1u);
  EXPECT_TRUE(judged);
}

TEST_F(ProposerTest, AStopBreaksOffASearchInTheMiddle) {
  const CheckedStudy study = *CheckStudy(
      ExampleSpec(), ExampleStudy("a", 100).settings(), ExampleLease());
  const auto sampler = *sampler::MakeSampler({.name = "tpe", .options = {}},
                                             study.space, study.objectives);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(
      MakeProposal(study, *sampler, History(), 0, stop.get_token()).status()));
}

TEST_F(ProposerTest, APointThatRunsAgainIsNotPruned) {
  proposer_.Open(1, Pruning(), History(), {});
  for (const std::int32_t repeat : {0, 1}) {
    proposer_.Began(1, repeat, {0, 0}, {.seed = 5, .repeat = repeat});
    proposer_.Measured(1, repeat, {{.step = 1, .value = 0.1}});
  }
  proposer_.Start();
  EXPECT_TRUE(Judged(1, 0).prune);
  EXPECT_FALSE(Judged(1, 1).prune);
}

TEST_F(ProposerTest, AReportIsJudgedWhileTheSamplerIsAtWork) {
  std::promise<void> judged;
  on_ready_ = [&] { judged.get_future().wait(); };
  proposer_.Open(1, Pruning(), History(), {});
  proposer_.Began(1, 0, {0, 0}, {});
  proposer_.Propose(1, 1, 1, 0);
  proposer_.Start();
  proposer_.Measured(1, 0, {{.step = 1, .value = 0.1}});
  EXPECT_TRUE(Judged(1, 0).prune);
  judged.set_value();
  StopAfter(1);
}

TEST_F(ProposerTest, APrunerThatIsSetLaterKnowsWhatCameBefore) {
  Open(1, "random");
  proposer_.Began(1, 0, {0, 0}, {});
  proposer_.Measured(1, 0, {{.step = 1, .value = 0.1}});
  proposer_.Refresh(1, Pruning());
  proposer_.Began(1, 1, {0, 0}, {});
  proposer_.Measured(1, 1, {{.step = 1, .value = 0.1}});
  proposer_.Start();
  while (!Judged(1, 0).prune) std::this_thread::yield();
  EXPECT_TRUE(Judged(1, 1).prune);
}

TEST_F(ProposerTest, APrunerThatIsTakenAwayStopsNothing) {
  proposer_.Open(1, Pruning(), History(), {});
  proposer_.Began(1, 0, {0, 0}, {});
  proposer_.Measured(1, 0, {{.step = 1, .value = 0.1}});
  proposer_.Refresh(1, Checked(ExampleStudy("a", 100).settings()));
  proposer_.Start();
  EXPECT_FALSE(Judged(1, 0).prune);
}

TEST_F(ProposerTest, WhereTheSpaceIsUsedUpLeadersRunAgainAtOnce) {
  CheckedStudy study = *CheckStudy(
      ExampleSpec(), ExampleStudy("a", 100).settings(), ExampleLease());
  study.repeat = {.times = 2, .leaders = 1, .after = 1000};
  const auto sampler = *sampler::MakeSampler({.name = "brute", .options = {}},
                                             study.space, study.objectives);
  History history;
  for (int n = 0; n < 9; ++n) {
    Observation trial;
    trial.number = n;
    trial.state = TrialState::kSucceeded;
    trial.point = MakeProposal(study, *sampler, history, n)->point;
    trial.values = {n == 4 ? 0.9 : 0.1};
    history.Put(trial);
  }
  const auto again = MakeProposal(study, *sampler, history, 9);
  ASSERT_OK(again);
  EXPECT_TRUE(SamePoint(again->point, history.trials()[4].point));
}

TEST_F(ProposerTest, OfAStudyItDoesNotKnowItSaysSoAndPrunesNothing) {
  proposer_.Start();
  proposer_.Propose(5, 0, 3, 0);
  EXPECT_FALSE(Judged(5, 0).prune);
  StopAfter(1);
  EXPECT_EQ(handed_over_[0].status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(handed_over_[0].asked, 3);
}

TEST_F(ProposerTest, SlowSamplersHoldUpNoQuickOne) {
  std::promise<void> quick;
  std::shared_future<void> quick_came = quick.get_future().share();
  for (storage::StudyKey slow = 1; slow <= 8; ++slow) Open(slow, "random");
  on_made_ = [&](const Proposals& made) {
    made.study == 9 ? quick.set_value() : quick_came.wait();
  };
  proposer_.Start();
  for (storage::StudyKey slow = 1; slow <= 8; ++slow) {
    proposer_.Propose(slow, 0, 1, 0);
  }
  Open(9, "random");
  proposer_.Propose(9, 0, 1, 0);
  while (quick_came.wait_for(std::chrono::milliseconds(1)) !=
         std::future_status::ready) {
    proposer_.AddThreadIfStuck();
  }
  StopAfter(9);
}

class SamplerChoiceTest : public ::testing::Test {
 protected:
  SamplerChoiceTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(*store_, clock_) {}

  // Nine points.
  absl::StatusOr<v1::CreateStudyReply> Create(const std::string& sampler,
                                              std::int64_t budget,
                                              bool dry_run = false) {
    v1::CreateStudyRequest request = ExampleStudy("a", budget);
    request.mutable_spec()->mutable_sampler()->set_name(sampler);
    request.set_validate_only(dry_run);
    return driver_.Call<v1::CreateStudyReply>(request);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  Driver driver_;
};

TEST_F(SamplerChoiceTest, AutoSaysWhatItIsAndStaysThat) {
  ASSERT_OK_AND_ASSIGN(const auto made, Create("auto", 9));
  EXPECT_EQ(made.study().resolved_sampler(), "brute");
  EXPECT_EQ(made.study().spec().sampler().options().at("pick"), "brute");
  EXPECT_THAT(made.advice(), ElementsAre(HasSubstr("9 points")));
  // Asked for again, by somebody who does not know of the pick.
  ASSERT_OK_AND_ASSIGN(const auto again, Create("auto", 9));
  EXPECT_EQ(again.study().resolved_sampler(), "brute");
}

TEST_F(SamplerChoiceTest, ADryRunAdvisesWhatWouldBeBetter) {
  EXPECT_THAT(Create("random", 8, true)->advice(),
              ElementsAre(HasSubstr("levels-gp here, better than random")));
  EXPECT_THAT(Create("random", 9, true)->advice(),
              ElementsAre(HasSubstr("every point can be tried once")));
  EXPECT_THAT(driver_.GetStudy("a"), FailsWith(ErrorId::kStudyNotFound));
}

// In a terminal of 80 columns.
TEST_F(SamplerChoiceTest, AdviceTakesTwoLines) {
  ASSERT_OK_AND_ASSIGN(const auto made, Create("tpe", 8, true));
  ASSERT_THAT(made.advice(),
              ElementsAre(HasSubstr("every parameter has levels")));
  EXPECT_LE(made.advice(0).size() + sizeof("advice:"), 160u);
}

TEST_F(SamplerChoiceTest, FiguresOfOtherSpacesAreNoAdvice) {
  v1::CreateStudyRequest request = ExampleStudy("a", 50);
  v1::SearchSpace& space = *request.mutable_spec()->mutable_space();
  space.Clear();
  for (const char* const name : {"x", "y"}) {
    v1::ParameterSpace* const range = space.add_parameters();
    range->set_name(name);
    range->mutable_float_()->set_hi(1.0);
  }
  request.mutable_spec()->mutable_sampler()->set_name("tpe");
  request.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(), IsEmpty());
  request.mutable_spec()->mutable_sampler()->set_name("auto");
  request.set_request_id("create-study-request-auto-of-ranges");
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(),
              ElementsAre(testing::Not(HasSubstr("13 modules"))));
}

TEST_F(SamplerChoiceTest, WhatDoesItsJobGetsNoAdvice) {
  v1::CreateStudyRequest two = ExampleStudy("a", 5);
  *two.mutable_spec()->add_objectives() = two.spec().objectives(0);
  two.mutable_spec()->mutable_objectives(1)->set_metric("f1");
  two.mutable_spec()->mutable_sampler()->set_name("tpe");  // motpe by itself
  two.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(two)->advice(), IsEmpty());
  EXPECT_THAT(Create("qmc", 5, true)->advice(), IsEmpty());
}

TEST_F(SamplerChoiceTest, SaysThatAWarmStartChangesNothing) {
  ASSERT_OK(Create("random", 1));
  ASSERT_OK(driver_.Register("w", "boot"));
  ASSERT_OK(driver_.Finish(driver_.AcquireOne("w", "boot"), 0.5));
  v1::CreateStudyRequest young = ExampleStudy("b", 5);
  young.mutable_spec()->add_warm_start()->set_study("studies/a");
  const auto advice = [&](const std::string& sampler) {
    young.mutable_spec()->mutable_sampler()->set_name(sampler);
    young.set_request_id("create-study-request-" + sampler);
    young.set_validate_only(true);
    return driver_.Call<v1::CreateStudyReply>(young)->advice();
  };
  EXPECT_THAT(advice("qmc"), ElementsAre(HasSubstr("warm_start")));
  EXPECT_THAT(advice("levels-gp"), IsEmpty());
}

TEST_F(SamplerChoiceTest, APurposeLeftOpenIsBothWhereTheSamplerCan) {
  const auto purpose = [&](const std::string& sampler) {
    return Create(sampler, 8, true)->study().spec().purpose();
  };
  EXPECT_EQ(purpose("tpe"), v1::PURPOSE_BOTH);
  EXPECT_EQ(purpose("auto"), v1::PURPOSE_BOTH);  // levels-gp
  EXPECT_EQ(purpose("random"), v1::PURPOSE_BEST);
  EXPECT_EQ(purpose("grid"), v1::PURPOSE_BEST);
}

TEST_F(SamplerChoiceTest, WhatWasLeftOpenMayBeLeftOpenAgain) {
  ASSERT_OK(Create("tpe", 8));
  ASSERT_OK_AND_ASSIGN(const auto again, Create("tpe", 8));
  EXPECT_EQ(again.study().spec().purpose(), v1::PURPOSE_BOTH);
  v1::CreateStudyRequest other = ExampleStudy("a", 8);
  other.mutable_spec()->mutable_sampler()->set_name("tpe");
  other.mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(other),
              FailsWith(ErrorId::kStudyAlreadyExists));
}

TEST_F(SamplerChoiceTest, SaysThatAPurposeChangesNothing) {
  v1::CreateStudyRequest grid = ExampleStudy("a", 9);
  grid.mutable_spec()->mutable_sampler()->set_name("grid");
  grid.mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  grid.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(grid)->advice(),
              ElementsAre(HasSubstr("purpose: understand changes nothing")));
}

TEST_F(SamplerChoiceTest, APurposeThatNobodyKnowsIsRefused) {
  v1::CreateStudyRequest odd = ExampleStudy("a", 9);
  odd.mutable_spec()->set_purpose(static_cast<v1::Purpose>(9));
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(odd),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(SamplerChoiceTest, WhoNamesTheBestGetsNoAdvice) {
  EXPECT_THAT(Create("levels-gp", 8, true)->advice(), IsEmpty());
  EXPECT_THAT(Create("grid", 9, true)->advice(), IsEmpty());
  EXPECT_THAT(Create("grid", 8, true)->advice(), testing::SizeIs(1));
}

TEST_F(SamplerChoiceTest, SaysHowManyTrialsAnAnswerTakes) {
  v1::CreateStudyRequest request = ExampleStudy("seven", 24);
  request.mutable_spec()->mutable_model()->set_layers(7);
  request.mutable_spec()->mutable_sampler()->set_name("levels-gp");
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(),
              ElementsAre(HasSubstr("can stay frozen takes about 49")));
  request = ExampleStudy("enough", 49);
  request.mutable_spec()->mutable_model()->set_layers(7);
  request.mutable_spec()->mutable_sampler()->set_name("levels-gp");
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(), IsEmpty());
}

// The coordinator's end does not wait for what a search reads, of its own study
// or of a prior one. Counted in pages that the store is asked for.

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
