// SPDX-License-Identifier: Apache-2.0
//
// Who gets what, turn by turn and without threads: the proposer is there, and
// has not been started.
#include "server/dispatch/dispatcher.h"

#include "gmock/gmock.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

class DispatcherTest : public LedgerFixture {
 protected:
  struct Answer {
    std::optional<v1::AcquireReply> reply;
  };

  std::shared_ptr<Answer> Park(const std::string& request_id,
                               const std::string& study = "",
                               CancelFlag cancelled = nullptr) {
    auto answer = std::make_shared<Answer>();
    ParkedAcquire parked;
    parked.worker = "w";
    parked.request.set_request_id(request_id);
    parked.request.set_boot_id("boot-1");
    parked.request.set_max_leases(1);
    parked.request.set_study(study);
    parked.deadline = clock_.Steady() + std::chrono::seconds(20);
    parked.caller.cancelled = std::move(cancelled);
    parked.reply = [answer](absl::StatusOr<v1::AcquireReply> reply) {
      answer->reply = *std::move(reply);
    };
    dispatcher_.Park(*batch_, std::move(parked));
    return answer;
  }
  void Turn() {
    dispatcher_.Turn(*batch_);
    Commit();
  }

  Proposer proposer_{[](const Proposals&) {}};
  storage::DiskRoom disk_;
  Dispatcher dispatcher_{ledger_, proposer_, disk_, clock_};
};

TEST_F(DispatcherTest, AQueuedTrialGoesToWhoCameFirst) {
  const TrialKey trial = AddQueued();
  const auto first = Park("one");
  const auto second = Park("two");
  Turn();
  ASSERT_TRUE(first->reply.has_value());
  EXPECT_EQ(first->reply->leases(0).trial(), "studies/a/trials/0");
  EXPECT_FALSE(second->reply.has_value());
  EXPECT_EQ(ledger_.running().leases().Find(trial),
            clock_.Steady() + ExampleLease().ttl);
}

TEST_F(DispatcherTest, ALeaseIsAnsweredOnlyOnceItIsOnDisk) {
  AddQueued();
  const auto answer = Park("one");
  dispatcher_.Turn(*batch_);
  EXPECT_FALSE(answer->reply.has_value());
  Commit();
  EXPECT_EQ(answer->reply->leases_size(), 1);
}

TEST_F(DispatcherTest, ForWhatIsNotQueuedProposalsAreAskedForOnce) {
  Park("one");
  Turn();
  EXPECT_EQ(book_->reserved(), 1);
  Turn();
  EXPECT_EQ(book_->reserved(), 1);
}

TEST_F(DispatcherTest, WhoHasHungUpIsLeasedNothing) {
  AddQueued();
  const auto gone = Park("one", "", std::make_shared<std::atomic<bool>>(true));
  Turn();
  EXPECT_EQ(gone->reply->leases_size(), 0);
  EXPECT_EQ(book_->Count(TrialState::kQueued), 1);
}

TEST_F(DispatcherTest, TheSameRequestSentAgainTakesThePlaceOfTheFirst) {
  const auto first = Park("one");
  const auto again = Park("one");
  Commit();
  EXPECT_EQ(first->reply->leases_size(), 0);
  EXPECT_FALSE(again->reply.has_value());
  EXPECT_EQ(dispatcher_.waiting(), 1u);
}

TEST_F(DispatcherTest, AWaitThatIsOverIsAnsweredWithTheReason) {
  book_->AbsorbSettings(book_->shared_checked());
  ASSERT_OK(
      ledger_.SetState(*batch_, *book_, storage::StudyState::kPaused, "lunch"));
  const auto answer = Park("one");
  clock_.Advance(std::chrono::seconds(20));
  Turn();
  EXPECT_EQ(answer->reply->none_reason(), v1::STUDY_PAUSED);
  EXPECT_EQ(answer->reply->none_detail(), "studies/a is paused: lunch");
}

TEST_F(DispatcherTest, WhoWaitsForAStudyThatEndsIsTurnedAway) {
  const auto answer = Park("one", "studies/a");
  ASSERT_OK(ledger_.SetState(*batch_, *book_, storage::StudyState::kStopped,
                             "enough"));
  Turn();
  EXPECT_EQ(answer->reply->none_reason(), v1::STUDY_ENDED);
  EXPECT_EQ(dispatcher_.waiting(), 0u);
}

TEST_F(DispatcherTest, OnANearlyFullDiskNothingBegins) {
  AddQueued();
  disk_.room = storage::Room::kNoNewLeases;
  const auto answer = Park("one");
  clock_.Advance(std::chrono::seconds(20));
  Turn();
  EXPECT_EQ(answer->reply->none_reason(), v1::DISK_NEARLY_FULL);
}

TEST_F(DispatcherTest, OfTwoStudiesTheOneOfHigherPriorityIsServedFirst) {
  AddQueued();
  v1::StudySettings urgent = ExampleStudy("b", 2).settings();
  urgent.set_priority(5);
  book_ = AddStudy("b", 2);
  book_->AbsorbSettings(std::make_shared<const CheckedStudy>(
      *CheckStudy(ExampleSpec(), urgent, ExampleLease())));
  AddQueued();
  const auto answer = Park("one");
  Turn();
  EXPECT_EQ(answer->reply->leases(0).trial(), "studies/b/trials/0");
}

TEST_F(DispatcherTest, ProposalsOfAnEarlierEpochAreDropped) {
  const std::int64_t epoch = dispatcher_.BeginEpoch();
  Proposals late;
  late.study = book_->row().key;
  late.epoch = epoch - 1;
  late.made.push_back({.number = 0, .point = {0, 0}, .seed = {}});
  dispatcher_.TakeProposals(*batch_, late);
  EXPECT_EQ(book_->Count(TrialState::kQueued), 0);
}

TEST_F(DispatcherTest, WhenTheCoordinatorDrainsAllAreAnswered) {
  const auto answer = Park("one");
  dispatcher_.Drain(*batch_);
  Commit();
  EXPECT_EQ(answer->reply->none_reason(), v1::DRAINING);
}

}  // namespace
}  // namespace frostline::server
