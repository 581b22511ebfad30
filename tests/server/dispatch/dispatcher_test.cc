// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/dispatcher.h"

#include "gmock/gmock.h"
#include "server/dispatch/acquire_line.h"
#include "tests/server/example_study.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Pair;
using ::testing::SizeIs;

// Who gets what, turn by turn and without threads: the proposer is there, and
// has not been started.

class DispatcherTest : public LedgerFixture {
 protected:
  struct Answer {
    std::optional<v1::AcquireReply> reply;
  };

  std::shared_ptr<Answer> Park(const std::string& request_id,
                               const std::string& study = "",
                               CancelFlag cancelled = nullptr) {
    auto answer = std::make_shared<Answer>();
    ParkedAcquire parked{CallContext(LocalAdmin())};
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
  void TurnLater(Duration later) {
    clock_.Advance(later);
    Turn();
  }
  // All that its sampler owes.
  void Deliver(StudyBook& book) {
    Proposals proposals;
    proposals.study = book.row().key;
    for (std::int64_t left = book.reserved(); left > 0; --left) {
      proposals.made.push_back(
          {.number = book.next_number() - left, .point = {0, 0}, .seed = {}});
    }
    dispatcher_.TakeProposals(*batch_, proposals);
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

TEST_F(DispatcherTest, QueuedTrialsGoBeforeWhatASamplerOwes) {
  StudyBook* const slow = book_;  // older, so it would go first
  book_ = AddStudy("b", 50);
  for (int i = 0; i < 50; ++i) AddQueued();
  const auto answer = Park("one");
  Turn();
  EXPECT_EQ(answer->reply->leases(0).trial(), "studies/b/trials/0");
  EXPECT_EQ(slow->reserved(), 0);
}

TEST_F(DispatcherTest, WhoWaitsForALateSamplerAsksTheNextStudyToo) {
  StudyBook* const slow = book_;
  StudyBook* const quick = AddStudy("b", 2);
  const auto answer = Park("one");
  Turn();
  EXPECT_EQ(slow->reserved(), 1);
  EXPECT_EQ(quick->reserved(), 0);
  TurnLater(std::chrono::milliseconds(50));
  EXPECT_EQ(quick->reserved(), 1);
  Deliver(*quick);
  Turn();
  EXPECT_EQ(answer->reply->leases(0).trial(), "studies/b/trials/0");
  EXPECT_EQ(slow->reserved(), 1);
}

TEST_F(DispatcherTest, ASamplerThatDeliversOneByOneIsNotLate) {
  StudyBook* const other = AddStudy("b", 2);
  Park("one");
  Turn();
  for (int i = 0; i < 10; ++i) {
    Proposals one;
    one.study = book_->row().key;
    dispatcher_.TakeProposals(*batch_, one);
    TurnLater(std::chrono::milliseconds(15));
  }
  EXPECT_EQ(other->reserved(), 0);
}

TEST_F(DispatcherTest, ThreeEqualStudiesShareTwoSlots) {
  std::vector<StudyBook*> books = {book_, AddStudy("b", 90), AddStudy("c", 90)};
  std::map<std::string, int> got;
  std::vector<TrialKey> running;
  int asked = 0;
  for (StudyBook* book : books) {
    book_ = book;
    for (int i = 0; i < 90; ++i) AddQueued();
  }
  for (int turn = 0; turn < 60; ++turn) {
    while (running.size() < 2) {
      const auto answer = Park("slot" + std::to_string(++asked));
      Turn();
      const TrialName name = *ParseTrialName(answer->reply->leases(0).trial());
      ++got[name.study_id];
      running.push_back(
          {(*ledger_.FindStudy(StudyNameOf(name.study_id)))->row().key,
           name.number});
    }
    clock_.Advance(std::chrono::seconds(10));
    StudyBook& book = *ledger_.Find(running.front().study);
    ASSERT_OK(ledger_.Apply(
        *batch_, book,
        *Cancel(*book.Find(running.front().number), "", clock_.Wall())));
    running.erase(running.begin());
  }
  EXPECT_THAT(got, ElementsAre(Pair("a", AllOf(Ge(19), Le(22))),
                               Pair("b", AllOf(Ge(19), Le(22))),
                               Pair("c", AllOf(Ge(19), Le(22)))));
}

TEST_F(DispatcherTest, ALookCostsWhatItFindsAndNotAllWhoWait) {
  v1::StudySettings labelled = ExampleStudy("a", 2).settings();
  (*labelled.mutable_required_worker_labels())["team"] = "nobody";
  for (int i = 0; i < 300; ++i) {
    book_ = AddStudy("s" + std::to_string(i), 2);
    book_->AbsorbSettings(std::make_shared<const CheckedStudy>(
        *CheckStudy(ExampleSpec(), labelled, ExampleLease())));
    AddQueued();
  }
  ledger_.FindStudy("studies/a")
      .value()
      ->AbsorbSettings(book_->shared_checked());
  for (int i = 0; i < 1000; ++i) Park(std::to_string(i));
  const std::int64_t before = dispatcher_.looks();
  Turn();
  EXPECT_LE(dispatcher_.looks() - before, 301);
  const std::int64_t idle = dispatcher_.looks();
  Turn();  // nothing has changed
  EXPECT_EQ(dispatcher_.looks(), idle);
}

TEST_F(DispatcherTest, AWorkerOutOfServiceIsPassedOverUntilItIsBack) {
  AddQueued();
  const auto drained = Park("one");
  ledger_.workers().Find("w")->row.state = storage::WorkerState::kDraining;
  Turn();
  ledger_.workers().Find("w")->row.state = storage::WorkerState::kActive;
  TurnLater(std::chrono::milliseconds(50));
  EXPECT_FALSE(drained->reply.has_value());
  dispatcher_.BackInService("w");
  Turn();
  EXPECT_EQ(drained->reply->leases_size(), 1);
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

TEST_F(DispatcherTest, ASamplerThatFailsPausesItsStudyAndSaysWhy) {
  Park("one");
  Turn();
  Proposals failed;
  failed.study = book_->row().key;
  failed.asked = 1;
  failed.status = absl::InternalError("no positive definite kernel");
  dispatcher_.TakeProposals(*batch_, failed);
  Turn();
  EXPECT_EQ(book_->row().state, storage::StudyState::kPaused);
  EXPECT_EQ(book_->row().state_reason,
            "its sampler failed: no positive definite kernel");
  EXPECT_EQ(book_->reserved(), 0);
  EXPECT_EQ(book_->next_number(), 0);
  EXPECT_EQ(book_->SlotsLeft(clock_.Wall()), 2);  // it can be resumed
}

TEST_F(DispatcherTest, AnExhaustedSpaceEndsItsStudy) {
  Park("one");
  Turn();
  Proposals none;
  none.study = book_->row().key;
  none.asked = 1;
  none.status = MakeError(ErrorId::kSpaceExhausted, "all tried", "");
  dispatcher_.TakeProposals(*batch_, none);
  Turn();
  EXPECT_EQ(book_->row().state, storage::StudyState::kCompleted);
}

TEST_F(DispatcherTest, WhenTheCoordinatorDrainsAllAreAnswered) {
  const auto answer = Park("one");
  dispatcher_.Drain(*batch_);
  Commit();
  EXPECT_EQ(answer->reply->none_reason(), v1::DRAINING);
}

class AcquireLineTest : public ::testing::Test {
 protected:
  using Labels = std::map<std::string, std::string>;

  Ticket Enter(const std::string& worker, const Labels& labels = {},
               const std::string& only = "") {
    ParkedAcquire parked{CallContext(LocalAdmin())};
    parked.worker = worker;
    parked.request.set_max_leases(1);
    parked.request.set_study(only);
    parked.deadline = std::chrono::seconds(10 + entered_);
    for (const auto& [label, value] : labels) {
      (*parked.info.mutable_labels())[label] = value;
    }
    line_.Enter(std::move(parked));
    return ++entered_;
  }
  using Models = std::vector<std::string>;
  static StockPtr StockOf(const Models& models) {
    v1::Worker worker;
    worker.mutable_stock();
    for (const std::string& id : models) {
      worker.mutable_stock()->add_models()->set_id(id);
    }
    return server::StockOf(worker);
  }
  Ticket EnterWith(const std::string& worker, const Models& models) {
    const Ticket ticket = Enter(worker);
    ParkedAcquire parked = line_.Take(ticket);
    parked.stock = StockOf(models);
    line_.Enter(std::move(parked));
    return ++entered_;
  }
  static StudyBook Study(const Labels& required = {}) {
    v1::StudySettings settings = ExampleStudy("a", 2).settings();
    for (const auto& [label, value] : required) {
      (*settings.mutable_required_worker_labels())[label] = value;
    }
    storage::StudyRow row;
    row.id = "a";
    return {row, std::make_shared<const CheckedStudy>(
                     *CheckStudy(ExampleSpec(), settings, ExampleLease()))};
  }

  AcquireLine line_;
  Ticket entered_ = 0;
};

TEST_F(AcquireLineTest, FirstComeFirstServed) {
  const Ticket first = Enter("v");
  const Ticket second = Enter("w");
  EXPECT_EQ(line_.NextFor(Study()), first);
  EXPECT_EQ(line_.NextFor(Study(), first), second);
  EXPECT_EQ(line_.NextFor(Study(), second), std::nullopt);
}

TEST_F(AcquireLineTest, AllLabelsMustBeCarried) {
  Enter("v", {{"gpu", "h100"}});
  const Ticket both = Enter("w", {{"gpu", "h100"}, {"team", "nlp"}});
  EXPECT_EQ(line_.NextFor(Study({{"gpu", "h100"}, {"team", "nlp"}})), both);
  EXPECT_EQ(line_.NextFor(Study({{"gpu", "a100"}})), std::nullopt);
}

// Given a worker of a trainer of somebody's own, it gets what names it alone.
TEST_F(AcquireLineTest, ATrainerGetsOnlyStudiesThatNameIt) {
  v1::Worker worker;
  worker.mutable_stock();
  (*worker.mutable_labels())["trainer"] = "train.py";
  const Ticket ticket = Enter("w", {{"trainer", "train.py"}});
  ParkedAcquire parked = line_.Take(ticket);
  parked.stock = server::StockOf(worker);
  line_.Enter(std::move(parked));
  EXPECT_EQ(line_.NextFor(Study()), std::nullopt);
  EXPECT_EQ(line_.NextFor(Study({{"trainer", "other.py"}})), std::nullopt);
  EXPECT_NE(line_.NextFor(Study({{"trainer", "train.py"}})), std::nullopt);
}

// The trainer of a registry could only fail such a study's trials.
TEST_F(AcquireLineTest, ARegistryGetsNoStudyWithoutAModelsId) {
  EnterWith("w", {"bert"});
  const auto study_of = [](const std::string& model, const Labels& required) {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_model()->set_id(model);
    v1::StudySettings settings = ExampleStudy("a", 2).settings();
    for (const auto& [label, value] : required) {
      (*settings.mutable_required_worker_labels())[label] = value;
    }
    storage::StudyRow row;
    row.id = "a";
    return StudyBook(row, std::make_shared<const CheckedStudy>(
                              *CheckStudy(spec, settings, ExampleLease())));
  };
  EXPECT_NE(line_.NextFor(study_of("bert", {})), std::nullopt);
  EXPECT_EQ(line_.NextFor(study_of("", {})), std::nullopt);
  Enter("any");  // says no stock, so it may run any trainer
  EXPECT_NE(line_.NextFor(study_of("", {})), std::nullopt);
}

TEST_F(AcquireLineTest, OnlyWhoCarriesTheRarestLabelIsLookedAt) {
  for (int i = 0; i < 900; ++i) Enter("v", {{"gpu", "h100"}});
  Enter("w", {{"gpu", "h100"}, {"team", "nlp"}});
  line_.NextFor(Study({{"gpu", "h100"}, {"team", "nlp"}}));
  EXPECT_EQ(line_.visits(), 1);
  line_.NextFor(Study({{"gpu", "h100"}, {"team", "vision"}}));
  EXPECT_EQ(line_.visits(), 1);
}

TEST_F(AcquireLineTest, WhoAsksForOneStudyGetsNoOther) {
  Enter("v", {}, "studies/b");
  const Ticket own = Enter("v", {}, "studies/a");
  const Ticket any = Enter("w");
  EXPECT_EQ(line_.NextFor(Study()), own);
  EXPECT_EQ(line_.NextFor(Study(), own), any);
}

TEST_F(AcquireLineTest, WhoIsSetAsideIsPassedOverAndKeepsItsPlace) {
  const Ticket first = Enter("v");
  const Ticket second = Enter("w");
  line_.SetAside(first);
  EXPECT_EQ(line_.NextFor(Study()), second);
  line_.Resume("v");
  EXPECT_EQ(line_.NextFor(Study()), first);
}

TEST_F(AcquireLineTest, WhoLacksTheModelIsPassedOverAtOneLook) {
  for (int i = 0; i < 900; ++i) EnterWith("v", {"bert"});
  const Ticket has = EnterWith("w", {"bert", "tiny"});
  EXPECT_EQ(line_.NextFor(Study()), has);
  EXPECT_EQ(line_.visits(), 3);  // two stocks, one place
}

TEST_F(AcquireLineTest, WhoDoesNotSayIsTakenToHaveAll) {
  EnterWith("v", {"bert"});
  const Ticket silent = Enter("w");
  EXPECT_EQ(line_.NextFor(Study()), silent);
}

TEST_F(AcquireLineTest, WhoRegistersAgainIsFoundByItsNewStock) {
  const Ticket first = EnterWith("v", {"bert"});
  EXPECT_EQ(line_.NextFor(Study()), std::nullopt);
  WorkerEntry again;
  again.row.id = "v";
  again.stock = StockOf({"tiny"});
  line_.Renew(again);
  EXPECT_TRUE(line_.TakeSomebodyCame());
  EXPECT_EQ(line_.NextFor(Study()), first);
  EXPECT_EQ(line_.Take(first).worker, "v");
}

TEST_F(AcquireLineTest, LabelsThatReadAlikeArePlacesOfTheirOwn) {
  const Ticket odd = Enter("v", {{"a", "b\nc"}, {"a\nb", "c"}});
  EXPECT_EQ(line_.NextFor(Study({{"a\nb", "c"}})), odd);
  line_.Take(odd);
  EXPECT_EQ(line_.NextFor(Study()), std::nullopt);
}

TEST_F(AcquireLineTest, WhoIsSetAsideIsStillToldOfTheEndOfItsStudy) {
  line_.SetAside(Enter("v", {}, "studies/a"));
  EXPECT_EQ(line_.NextFor(Study()), std::nullopt);
  EXPECT_THAT(line_.TakeAskingFor([](const std::string&) { return true; }),
              SizeIs(1));
}

TEST_F(AcquireLineTest, AllWhoAreAsideComeBackAtOnce) {
  const Ticket first = Enter("v");
  line_.SetAside(first);
  line_.SetAside(Enter("w", {}, "studies/a"));
  line_.ResumeAll();
  EXPECT_EQ(line_.NextFor(Study()), first);
  EXPECT_EQ(line_.NextFor(Study(), first), first + 1);
}

TEST_F(AcquireLineTest, EveryoneLeavesOnceWhateverTheWay) {
  Enter("v");
  Enter("v", {{"gpu", "h100"}}, "studies/a");
  Enter("w");
  line_.SetAside(Enter("x"));
  EXPECT_THAT(line_.TakeOf("v",
                           [](const ParkedAcquire& parked) {
                             return parked.request.study().empty();
                           }),
              SizeIs(1));
  EXPECT_THAT(line_.TakeAskingFor([](const std::string& study) {
    return study == "studies/a";
  }),
              SizeIs(1));
  EXPECT_THAT(line_.TakeDue(std::chrono::seconds(12)), SizeIs(1));
  EXPECT_THAT(line_.TakeAll(), SizeIs(1));
  EXPECT_EQ(line_.size(), 0u);
  EXPECT_EQ(line_.NextFor(Study()), std::nullopt);
}

}  // namespace
}  // namespace frostline::server
