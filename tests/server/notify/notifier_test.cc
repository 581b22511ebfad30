// SPDX-License-Identifier: Apache-2.0
//
// Ends of studies are told by a coordinator on a real database, with real
// programs.
#include "server/notify/notifier.h"

#include <unistd.h>

#include <functional>
#include <set>

#include "absl/strings/match.h"
#include "base/plain/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/page.h"
#include "storage/factory.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/server/notify/script.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

bool Comes(const std::function<bool()>& what) {
  for (int i = 0; i < 2'000; ++i) {
    if (what()) return true;
    usleep(10'000);
  }
  return false;
}

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest()
      : store_(*storage::OpenStore({.data_folder = folder_.File("data")})) {
    options_.tries = {.first = milliseconds(20), .longest = milliseconds(50)};
  }

  // Scripts run in the test's folder.
  void Register(const std::string& id, const std::string& script) {
    options_.destinations[id].program =
        WriteScript(folder_.File(id + ".sh"),
                    "cd '" + folder_.path().string() + "'\n" + script);
  }
  void Start() {
    driver_ = nullptr;
    CoordinatorOptions options;
    options.notify = options_;
    driver_ = std::make_unique<Driver>(*store_, clock_, std::move(options));
    ASSERT_OK(driver_->started());
  }
  absl::Status Create(const std::string& id,
                      const std::vector<std::string>& notify) {
    v1::CreateStudyRequest request = ExampleStudy(id, 1);
    request.mutable_settings()->mutable_notify()->Add(notify.begin(),
                                                      notify.end());
    return driver_->Call<v1::CreateStudyReply>(request).status();
  }
  absl::Status Stop(const std::string& id, const std::string& reason = "") {
    v1::StopStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(id));
    request.set_reason(reason);
    return driver_->Call<v1::Study>(request).status();
  }
  void End(const std::string& id, const std::vector<std::string>& notify) {
    ASSERT_OK(Create(id, notify));
    ASSERT_OK(Stop(id));
  }
  absl::StatusOr<v1::Study> Update(const v1::StudySettings& settings,
                                   const std::string& path) {
    v1::UpdateStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name("studies/imdb");
    *request.mutable_settings() = settings;
    request.mutable_update_mask()->add_paths(path);
    return driver_->Call<v1::Study>(request);
  }

  std::vector<std::string> Lines(const std::string& file) {
    return LinesOf(folder_.File(file));
  }
  bool HasLines(const std::string& file, std::size_t count) {
    return Comes([&] { return Lines(file).size() >= count; });
  }
  std::vector<storage::NotificationRow> Pending() {
    return *store_->ListNotifications("", 100);
  }
  bool IsCounted(const std::string& outcome, int count) {
    MetricsPage page;
    driver_->coordinator().Measure(page);
    return absl::StrContains(
        page.Text(), "frostline_notifications_total{outcome=\"" + outcome +
                         "\"} " + std::to_string(count) + "\n");
  }
  static std::string DeliveryOf(const std::string& line) {
    const auto json = Json::Parse(line);
    return json.ok() ? std::string(json.value().root().Find("delivery")->text)
                     : "no JSON: " + line;
  }

  TempFolder folder_;
  SystemClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  NotifyOptions options_;
  std::unique_ptr<Driver> driver_;
};

constexpr char kTell[] = "cat >>told; echo >>told";

TEST_F(NotifierTest, ACompletedStudyIsToldWithItsBestTrial) {
  Register("mail", kTell);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  ASSERT_OK(driver_->Finish(driver_->AcquireOne("w", "boot-1"), 0.75));
  ASSERT_TRUE(HasLines("told", 1));
  EXPECT_THAT(Lines("told")[0],
              AllOf(HasSubstr("{\"event\":\"study_ended\",\"delivery\":\""),
                    HasSubstr("\"notification\":\"mail\",\"study\":\"imdb\","
                              "\"state\":\"COMPLETED\","
                              "\"reason\":\"budget of 1 trials reached\""),
                    HasSubstr("\"trials\":{\"succeeded\":1,"),
                    HasSubstr("\"best\":{\"trial\":\"studies/imdb/trials/0\","
                              "\"number\":0,\"values\":{\"accuracy\":0.75}}")));
  EXPECT_TRUE(Json::Parse(Lines("told")[0]).ok());
  EXPECT_TRUE(Comes([&] { return Pending().empty(); }));
  EXPECT_TRUE(Comes([&] { return IsCounted("delivered", 1); }));
}

TEST_F(NotifierTest, AStoppedStudyIsToldWithWhatItsStopCameTo) {
  Register("mail", kTell);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  driver_->AcquireOne("w", "boot-1");
  ASSERT_OK(Stop("imdb", "it's \"enough\"\n$(id)"));
  ASSERT_TRUE(HasLines("told", 1));
  EXPECT_THAT(Lines("told")[0],
              AllOf(HasSubstr("\"state\":\"STOPPED\""),
                    HasSubstr("\"reason\":\"it's \\\"enough\\\"\\u000a$(id)\""),
                    HasSubstr("\"cancelled\":1,\"running\":0"),
                    HasSubstr("\"best\":null")));
}

TEST_F(NotifierTest, AnOpenStudyThatIsDeletedIsTold) {
  Register("mail", kTell);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  v1::DeleteStudyRequest request;
  request.set_request_id(RandomHexId());
  request.set_name("studies/imdb");
  ASSERT_OK(driver_->Call<v1::Study>(request));
  ASSERT_TRUE(HasLines("told", 1));
  EXPECT_THAT(Lines("told")[0], HasSubstr("\"state\":\"DELETED\""));
}

TEST_F(NotifierTest, EachIdIsToldOnceByADeliveryOfItsOwn) {
  Register("mail", kTell);
  Register("chat", kTell);
  Start();
  End("imdb", {"mail", "chat", "mail"});
  ASSERT_TRUE(Comes([&] { return IsCounted("delivered", 2); }));
  const std::vector<std::string> told = Lines("told");
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_NE(DeliveryOf(told[0]), DeliveryOf(told[1]));
}

TEST_F(NotifierTest, WhatFailsIsTriedAgainUnderTheSameDelivery) {
  Register("mail", "cat >>tries; echo >>tries; [ $(wc -l <tries) -ge 3 ]");
  Start();
  End("imdb", {"mail"});
  ASSERT_TRUE(Comes([&] { return IsCounted("delivered", 1); }));
  EXPECT_TRUE(IsCounted("retried", 2));
  const std::vector<std::string> tries = Lines("tries");
  ASSERT_THAT(tries, SizeIs(3));
  EXPECT_THAT(std::set<std::string>(tries.begin(), tries.end()), SizeIs(1));
  EXPECT_TRUE(Comes([&] { return Pending().empty(); }));
}

TEST_F(NotifierTest, WhatNeverWorksIsGivenUp) {
  options_.tries.give_up = milliseconds(200);
  Register("mail", "exit 1");
  Start();
  End("imdb", {"mail"});
  EXPECT_TRUE(Comes([&] { return IsCounted("given_up", 1); }));
  EXPECT_TRUE(Comes([&] { return Pending().empty(); }));
}

TEST_F(NotifierTest, AnEndIsOnDiskBeforeItsStopIsAnswered) {
  Register("mail", kTell);
  options_.threads = 0;  // so that nobody tells
  Start();
  End("imdb", {"mail"});
  ASSERT_THAT(Pending(), SizeIs(1));
  const std::string delivery = Pending()[0].id;
  options_.threads = 1;
  Start();
  ASSERT_TRUE(HasLines("told", 1));
  EXPECT_EQ(DeliveryOf(Lines("told")[0]), delivery);
}

TEST_F(NotifierTest, WhatACoordinatorCouldNotTellItsNextOneTells) {
  Register("mail", "cat >>tries; echo >>tries; exit 1");
  options_.tries.first = options_.tries.longest = std::chrono::hours(1);
  Start();
  End("imdb", {"mail"});
  ASSERT_TRUE(HasLines("tries", 1));
  driver_ = nullptr;
  Register("mail", kTell);
  Start();
  ASSERT_TRUE(HasLines("told", 1));
  EXPECT_EQ(DeliveryOf(Lines("told")[0]), DeliveryOf(Lines("tries")[0]));
}

TEST_F(NotifierTest, WhatIsRegisteredNoMoreIsDropped) {
  Register("mail", kTell);
  options_.threads = 0;
  Start();
  End("imdb", {"mail"});
  driver_ = nullptr;
  options_.destinations.clear();
  testing::internal::CaptureStderr();
  Start();
  EXPECT_TRUE(Comes([&] { return Pending().empty(); }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("notification_dropped notification=mail study=imdb"));
  EXPECT_TRUE(IsCounted("dropped", 1));
}

TEST_F(NotifierTest, AStudyThatEndsAgainIsToldAgain) {
  Register("mail", kTell);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  ASSERT_OK(driver_->Register("w", "boot-1"));
  ASSERT_OK(driver_->Finish(driver_->AcquireOne("w", "boot-1"), 0.5));
  ASSERT_TRUE(HasLines("told", 1));
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(2);
  ASSERT_OK(Update(settings, "budget"));
  ASSERT_OK(driver_->Finish(driver_->AcquireOne("w", "boot-1"), 0.75));
  ASSERT_TRUE(HasLines("told", 2));
  EXPECT_NE(DeliveryOf(Lines("told")[0]), DeliveryOf(Lines("told")[1]));
}

TEST_F(NotifierTest, AnIdThatIsNotRegisteredChangesNothing) {
  Register("mail", kTell);
  Start();
  EXPECT_THAT(Create("imdb", {"pager"}),
              FailsAt(ErrorId::kRequestInvalid, "settings.notify"));
  EXPECT_THAT(driver_->GetStudy("imdb"), FailsWith(ErrorId::kStudyNotFound));
  ASSERT_OK(Create("imdb", {"mail"}));
  v1::StudySettings settings;
  settings.add_notify("pager");
  EXPECT_THAT(Update(settings, "notify"),
              FailsAt(ErrorId::kRequestInvalid, "settings.notify"));
  EXPECT_EQ(driver_->GetStudy("imdb")->settings().notify(0), "mail");
}

TEST_F(NotifierTest, OtherSettingsOfAStudyWhoseIdIsGoneCanChange) {
  Register("mail", kTell);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  options_.destinations.clear();
  Start();
  v1::StudySettings settings;
  settings.set_priority(3);
  EXPECT_OK(Update(settings, "priority"));
}

TEST_F(NotifierTest, AHangingProgramHoldsUpNeitherVerbsNorOthers) {
  Register("mail", "echo >>begun; exec sleep 1000");
  Register("chat", kTell);
  Start();
  End("a", {"mail"});
  ASSERT_TRUE(HasLines("begun", 1));
  for (int i = 0; i < 100; ++i) ASSERT_OK(driver_->GetStudy("a"));
  End("b", {"mail", "chat"});
  EXPECT_TRUE(HasLines("told", 1));
  EXPECT_TRUE(Comes([&] { return IsCounted("delivered", 1); }));
  EXPECT_TRUE(IsCounted("retried", 0));
  EXPECT_THAT(Lines("begun"), SizeIs(1));  // one at a time of a destination
}

TEST_F(NotifierTest, AHangingProgramIsKilledAndTriedAgain) {
  Register("mail", "echo >>begun; exec sleep 1000");
  options_.limit = milliseconds(100);
  Start();
  End("imdb", {"mail"});
  EXPECT_TRUE(HasLines("begun", 2));
}

TEST_F(NotifierTest, BeyondItsBoundAnEndIsDroppedAndCounted) {
  Register("mail", kTell);
  options_.threads = 0;
  options_.most_waiting = 2;
  Start();
  for (const char* const id : {"a", "b", "c"}) End(id, {"mail"});
  EXPECT_THAT(Pending(), SizeIs(2));
  EXPECT_TRUE(IsCounted("dropped", 1));
}

TEST_F(NotifierTest, AnEndThatTheStoreRefusedIsToldOnce) {
  Register("mail", kTell);
  auto counting = std::make_unique<CountingStore>(std::move(store_));
  CountingStore& door = *counting;
  store_ = std::move(counting);
  Start();
  ASSERT_OK(Create("imdb", {"mail"}));
  door.SetFull(true);
  EXPECT_THAT(Stop("imdb"), FailsWith(ErrorId::kStoreFull));
  door.SetFull(false);
  ASSERT_TRUE(Comes([&] { return Stop("imdb").ok(); }));  // after its pause
  End("sst2", {"mail"});
  ASSERT_TRUE(HasLines("told", 2));  // one at a time, in their order
  EXPECT_THAT(Lines("told"), ElementsAre(HasSubstr("\"study\":\"imdb\""),
                                         HasSubstr("\"study\":\"sst2\"")));
}

using std::chrono::minutes;

constexpr WallMicros kEnded = 1'767'225'600'000'000;

TEST(PauseAfter, DoublesFromTryToTryGiveOrTakeAHalf) {
  Rng rng(1);
  Duration mean = seconds(2);
  for (int tries = 1; tries <= 8; ++tries, mean *= 2) {
    const auto pause = PauseAfter(tries, kEnded, kEnded, {}, rng);
    ASSERT_TRUE(pause.has_value());
    EXPECT_GE(*pause, mean / 2) << tries;
    EXPECT_LE(*pause, mean + mean / 2) << tries;
  }
}

TEST(PauseAfter, GrowsNoLongerThanItsBound) {
  Rng rng(1);
  for (const int tries : {20, 1'000, 2'000'000'000}) {
    const auto pause = PauseAfter(tries, kEnded, kEnded, {}, rng);
    ASSERT_TRUE(pause.has_value());
    EXPECT_LE(*pause, minutes(90));
  }
}

TEST(PauseAfter, DiffersBetweenThoseThatFailedTogether) {
  Rng rng(1);
  EXPECT_NE(PauseAfter(3, kEnded, kEnded, {}, rng),
            PauseAfter(3, kEnded, kEnded, {}, rng));
}

TEST(PauseAfter, IsNothingADayAfterTheEnd) {
  Rng rng(1);
  const TryRules rules;
  const WallMicros day = rules.give_up / std::chrono::microseconds(1);
  EXPECT_TRUE(PauseAfter(1, kEnded, kEnded + day / 2, rules, rng));
  EXPECT_FALSE(PauseAfter(1, kEnded, kEnded + day, rules, rng));
}

TEST(PauseAfter, GoesOnWhenTheDateIsSetBack) {
  Rng rng(1);
  const TryRules rules{.first = milliseconds(1)};
  EXPECT_TRUE(PauseAfter(1, kEnded, kEnded - 86'400'000'000, rules, rng));
}

}  // namespace
}  // namespace frostline::server
