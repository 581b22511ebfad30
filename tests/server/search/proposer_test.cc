// SPDX-License-Identifier: Apache-2.0
#include "server/search/proposer.h"

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
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

  std::mutex mutex_;
  std::vector<Proposals> handed_over_;
  std::function<void()> on_ready_;
  Proposer proposer_;
};

TEST_F(ProposerTest, HandsOverEachProposalWhenItIsMade) {
  Open(1, "random");
  proposer_.Propose(1, 7, 3, 42);
  std::promise<sampler::PruneDecision> judged;  // comes after them
  proposer_.Judge(1, 7, [&](sampler::PruneDecision d) { judged.set_value(d); });
  proposer_.Start();
  judged.get_future().wait();
  proposer_.Stop();
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
  std::promise<sampler::PruneDecision> judged;
  proposer_.Judge(1, 0, [&](sampler::PruneDecision d) { judged.set_value(d); });
  proposer_.Start();
  judged.get_future().wait();
  proposer_.Stop();
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
  proposer_.Judge(1, 0, [&](sampler::PruneDecision) { judged = true; });
  proposer_.Start();
  first.get_future().wait();
  std::thread stop([&] { proposer_.Stop(); });
  while (!proposer_.stopping()) std::this_thread::yield();
  stopping.set_value();
  stop.join();
  EXPECT_EQ(handed_over_.size(), 1u);
  EXPECT_TRUE(judged);
}

TEST_F(ProposerTest, APointThatRunsAgainIsNotPruned) {
  v1::StudySpec spec = ExampleSpec();
  v1::CreateStudyRequest request = ExampleStudy("a", 100);
  v1::PrunerSpec& pruner = *request.mutable_settings()->mutable_pruner();
  pruner.set_name("threshold");
  (*pruner.mutable_options())["lower"] = "0.5";
  proposer_.Open(1,
                 std::make_shared<const CheckedStudy>(
                     *CheckStudy(spec, request.settings(), ExampleLease())),
                 History(), {});
  std::vector<std::promise<sampler::PruneDecision>> judged(2);
  for (const std::int32_t repeat : {0, 1}) {
    proposer_.Began(1, repeat, {0, 0}, {.seed = 5, .repeat = repeat});
    proposer_.Measured(1, repeat, {{.step = 1, .value = 0.1}});
    proposer_.Judge(1, repeat, [&, repeat](sampler::PruneDecision d) {
      judged[static_cast<std::size_t>(repeat)].set_value(d);
    });
  }
  proposer_.Start();
  EXPECT_TRUE(judged[0].get_future().get().prune);
  EXPECT_FALSE(judged[1].get_future().get().prune);
  proposer_.Stop();
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

TEST_F(ProposerTest, OfAStudyItDoesNotKnowItSaysNothingAndPrunesNothing) {
  proposer_.Start();
  proposer_.Propose(5, 0, 3, 0);
  std::promise<sampler::PruneDecision> judged;
  proposer_.Judge(5, 0, [&](sampler::PruneDecision d) { judged.set_value(d); });
  EXPECT_FALSE(judged.get_future().get().prune);
  proposer_.Stop();
  EXPECT_TRUE(handed_over_.empty());
}

}  // namespace
}  // namespace frostline::server
