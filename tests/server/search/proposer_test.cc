// SPDX-License-Identifier: Apache-2.0
#include "server/search/proposer.h"

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>

#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

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

}  // namespace
}  // namespace frostline::server
