// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/acquire_line.h"

#include "gmock/gmock.h"
#include "tests/server/example_study.h"

namespace frostline::server {
namespace {

using ::testing::SizeIs;

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
