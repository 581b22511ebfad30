// SPDX-License-Identifier: Apache-2.0
#include "server/notify/notifier.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/page.h"
#include "server/notify/deliver.h"
#include "storage/factory.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {

// A shell script that can be run.

inline std::string WriteScript(const std::string& path,
                               const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

inline std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// A web server on loopback that keeps what is posted to it. It answers with the
// given statuses, one after the other, and the last again and again; 0 is
// silence until its end.
class Receiver {
 public:
  explicit Receiver(std::vector<int> statuses)
      : statuses_(std::move(statuses)),
        socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, any, size) != 0 || listen(socket_, 16) != 0 ||
        getsockname(socket_, any, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~Receiver() {
    ending_ = true;
    thread_.join();
    close(socket_);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  std::string Url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  // Heads and bodies, in order.
  std::vector<std::string> requests() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  static std::string BodyOf(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }

 private:
  bool IsReady(int fd) const {
    while (!ending_) {
      pollfd waiting{fd, POLLIN, 0};
      if (poll(&waiting, 1, 20) > 0) return true;
    }
    return false;
  }

  static bool IsWhole(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) return false;
    return request.size() >=
           head + 4 + std::strtoul(request.c_str() + length + 16, nullptr, 10);
  }

  void Run() {
    std::size_t answered = 0;
    while (IsReady(socket_)) {
      const int peer = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      Answer(peer, statuses_[std::min(answered++, statuses_.size() - 1)]);
      close(peer);
    }
  }

  void Answer(int peer, int status) {
    std::string request;
    std::array<char, 4096> buffer;
    while (!IsWhole(request)) {
      if (!IsReady(peer)) return;
      const ssize_t size = read(peer, buffer.data(), buffer.size());
      if (size <= 0) return;
      request.append(buffer.data(), static_cast<std::size_t>(size));
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(request);
    }
    if (status == 0) {
      IsReady(peer);  // it hangs up, or we end
      return;
    }
    const std::string answer =
        "HTTP/1.1 " + std::to_string(status) +
        " X\r\nLocation: /elsewhere\r\nContent-Length: 5\r\n"
        "Connection: close\r\n\r\nhello";
    (void)!write(peer, answer.data(), answer.size());
  }

  const std::vector<int> statuses_;
  const int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Ends of studies are told by a coordinator on a real database, with real
// programs.

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

// What could mean something to curl, to a shell or to a header.
constexpr char kBody[] =
    R"({"reason":"\"\nurl = \"file:///etc/passwd\" @x $(id) %{http_code} ü"})";

storage::NotificationRow Row() {
  return {.id = "d1", .name = "chat", .study = "imdb", .body = kBody};
}

Destination Webhook(const std::string& url) {
  return {.program = "", .url = SecretString(url)};
}

absl::Status Post(const std::string& url, Duration limit = kDeliveryLimit) {
  return Deliver(Webhook(url), Row(), StopSign(), limit);
}

TEST(Deliver, GivesAProgramTheTextAndItsNames) {
  const TempFolder folder;
  const std::string program = WriteScript(
      folder.File("program"),
      "cd \"$(dirname \"$0\")\"\ncat >told\necho >>told\n"
      "echo \"$# $FROSTLINE_EVENT $FROSTLINE_STUDY $FROSTLINE_DELIVERY\" "
      ">>told");
  ASSERT_OK(Deliver({.program = program, .url = {}}, Row(), StopSign()));
  EXPECT_THAT(LinesOf(folder.File("told")),
              ElementsAre(kBody, "0 study_ended imdb d1"));
}

TEST(Deliver, SaysWhyAProgramFailed) {
  const TempFolder folder;
  const std::string program =
      WriteScript(folder.File("program"), "echo no such host >&2; exit 3");
  EXPECT_EQ(
      Deliver({.program = program, .url = {}}, Row(), StopSign()).message(),
      "it exited with code 3: no such host");
}

TEST(Deliver, PostsTheTextAsItIs) {
  const Receiver receiver({204});
  ASSERT_OK(Post(receiver.Url("/hooks/SECRET")));
  ASSERT_THAT(receiver.requests(), SizeIs(1));
  const std::string request = receiver.requests()[0];
  EXPECT_THAT(request, AllOf(StartsWith("POST /hooks/SECRET HTTP/"),
                             HasSubstr("Content-Type: application/json\r\n"),
                             HasSubstr("Frostline-Delivery: d1\r\n")));
  EXPECT_EQ(Receiver::BodyOf(request), kBody);
}

TEST(Deliver, TakesNoAnswerButTwoHundredsForATold) {
  const Receiver receiver({500, 404, 302});
  for (const char* const status : {"500", "404", "302"}) {
    EXPECT_EQ(Post(receiver.Url("/")).message(),
              std::string("HTTP status ") + status);
  }
  EXPECT_THAT(receiver.requests(), SizeIs(3));  // no redirect was followed
}

TEST(Deliver, WaitsForNoReceiverThatHangs) {
  const Receiver receiver({0});
  EXPECT_EQ(Post(receiver.Url("/"), seconds(1)).message(),
            "no answer: curl exited with code 28");
}

TEST(Deliver, NamesNoUrlWhenNobodyIsThere) {
  std::string url;
  {
    const Receiver gone({200});
    url = gone.Url("/hooks/SECRET");
  }
  EXPECT_EQ(Post(url).message(), "no answer: curl exited with code 7");
}

namespace fs = std::filesystem;

constexpr char kFile[] =
    "# who is told\n"
    "mail:\n  command: /bin/sh\n"
    "chat:\n  webhook: https://chat.example.org/hooks/SECRET?x=1&y=%20\n";

TEST(ParseDestinations, ReadsProgramsAndWebhooks) {
  ASSERT_OK_AND_ASSIGN(const Destinations read, ParseDestinations(kFile, "f"));
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read.at("mail").program, "/bin/sh");
  EXPECT_TRUE(read.at("mail").url.empty());
  EXPECT_EQ(read.at("chat").url.Reveal(),
            "https://chat.example.org/hooks/SECRET?x=1&y=%20");
}

struct Mistake {
  const char* text;
  const char* says;
};

class DestinationMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(DestinationMistakes, AreNamedWithoutTheUrl) {
  const absl::Status status =
      ParseDestinations(GetParam().text, "f.yaml").status();
  EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, "--notify-file"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr(GetParam().says), Not(HasSubstr("SECRET"))));
}

INSTANTIATE_TEST_SUITE_P(
    All, DestinationMistakes,
    testing::Values(
        Mistake{"- a\n", "names nobody"}, Mistake{"", "is empty"},
        Mistake{"a b:\n  command: /bin/sh\n", "'a b' is no id"},
        Mistake{"none:\n  command: /bin/sh\n", "none is what takes"},
        Mistake{"mail:\n  command: sh\n", "sh is no program's full path"},
        Mistake{"mail:\n  command: /bin\n", "/bin is no program's full path"},
        Mistake{"mail:\n  command: /etc/passwd\n", "is no program's full path"},
        Mistake{"mail:\n  command: /bin/sh -c x\n", "no program's full path"},
        Mistake{"chat:\n  webhook: file:///SECRET\n", "no URL of http"},
        Mistake{"chat:\n  webhook: 'http://h/SECRET x'\n", "no URL of http"},
        Mistake{"chat:\n  webhook: 'http://h/\"SECRET'\n", "no URL of http"},
        Mistake{"chat:\n  webhook: http://h/SECRET: x\n", "f.yaml line 2"},
        Mistake{"chat:\n  webhok: http://h/\n", "webhok"},
        Mistake{"chat:\n  webhook: http://h/SECRET\n  command: /bin/sh\n",
                "has to have one of two"},
        Mistake{"\nchat: {}\n", "f.yaml line 2"}));

TEST(ReadDestinations, RefusesAFileThatOthersMayRead) {
  const TempFolder folder;
  const std::string path = folder.File("notify.yaml");
  std::ofstream(path) << kFile;
  fs::permissions(path, fs::perms(0644));
  EXPECT_THAT(ReadDestinations(path),
              FailsAt(ErrorId::kTlsFile, "--notify-file"));
  fs::permissions(path, fs::perms(0600));
  EXPECT_OK(ReadDestinations(path));
}

TEST(ReadDestinations, SaysAtTheStartThatWebhooksLackCurl) {
  const TempFolder folder;
  const std::string path = folder.File("notify.yaml");
  std::ofstream(path) << kFile;
  fs::permissions(path, fs::perms(0600));
  const std::string before = std::getenv("PATH");
  setenv("PATH", folder.path().c_str(), 1);
  const absl::Status status = ReadDestinations(path).status();
  setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(DescribeError(status), HasSubstr("install curl"));
}

TEST(CheckRegistered, NamesTheIdsThatThereAre) {
  ASSERT_OK_AND_ASSIGN(const Destinations there, ParseDestinations(kFile, "f"));
  v1::StudySettings settings;
  settings.add_notify("mail");
  EXPECT_OK(CheckRegistered(settings.notify(), there));
  settings.add_notify("pager");
  const absl::Status status = CheckRegistered(settings.notify(), there);
  EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, "settings.notify"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("'pager'"), HasSubstr("chat, mail")));
  EXPECT_THAT(DescribeError(CheckRegistered(settings.notify(), {})),
              HasSubstr("--notify-file"));
}

TEST(CheckRegistered, TakesSixteenAndNoMore) {
  ASSERT_OK_AND_ASSIGN(const Destinations there, ParseDestinations(kFile, "f"));
  v1::StudySettings settings;
  for (int i = 0; i < 16; ++i) settings.add_notify("mail");
  EXPECT_OK(CheckRegistered(settings.notify(), there));
  settings.add_notify("mail");
  EXPECT_THAT(CheckRegistered(settings.notify(), there),
              FailsAt(ErrorId::kFieldTooLarge, "settings.notify"));
}

class RunProgramTest : public ::testing::Test {
 protected:
  absl::StatusOr<Ran> Shell(const std::string& script,
                            Duration limit = std::chrono::seconds(30)) {
    return RunProgram({.words = {WriteScript(folder_.File("program"), script)},
                       .variables = {"GIVEN=1"},
                       .input = input_,
                       .limit = limit},
                      stop_);
  }

  TempFolder folder_;
  std::string input_;
  StopSign stop_;
};

TEST_F(RunProgramTest, SaysHowItEndedAndItsLastWords) {
  ASSERT_OK_AND_ASSIGN(const Ran ran,
                       Shell("echo first\necho 'no\tmail' >&2\necho\nexit 7"));
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.last_line, "no mail");
  ASSERT_OK_AND_ASSIGN(const Ran killed, Shell("kill -9 $$"));
  EXPECT_EQ(killed.code, 128 + 9);
}

TEST_F(RunProgramTest, GivesAllOfTheInputAlsoToWhoReadsNoneOfIt) {
  input_ = std::string(1 << 20, 'x');
  ASSERT_OK_AND_ASSIGN(const Ran counted, Shell("wc -c"));
  EXPECT_EQ(counted.last_line, "1048576");
  ASSERT_OK_AND_ASSIGN(const Ran deaf, Shell("exit 0"));
  EXPECT_EQ(deaf.code, 0);
}

TEST_F(RunProgramTest, IsNotHeldUpByOneThatTalksWithoutEnd) {
  ASSERT_OK_AND_ASSIGN(const Ran ran,
                       Shell("head -c 5000000 /dev/zero | tr '\\0' y\n"
                             "echo; echo done"));
  EXPECT_EQ(ran.last_line, "done");
}

TEST_F(RunProgramTest, HandsOnLittleOfWhatTheCoordinatorHas) {
  const int open_file = open("/dev/null", O_RDONLY);  // not close-on-exec
  setenv("FROSTLINE_TEST_SECRET", "s3cret", 1);
  ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      Shell(absl::StrCat("[ \"$GIVEN\" = 1 ] && [ -n \"$PATH\" ] && "
                         "[ -z \"$FROSTLINE_TEST_SECRET\" ] && "
                         "[ ! -e /proc/$$/fd/",
                         open_file, " ]")));
  unsetenv("FROSTLINE_TEST_SECRET");
  close(open_file);
  EXPECT_EQ(ran.code, 0);
}

// A process whose parent is gone may stay as a zombie for a while.
bool Runs(const std::string& pid) {
  for (const std::string& line : LinesOf("/proc/" + pid + "/status")) {
    if (absl::StartsWith(line, "State:")) {
      return !absl::StrContains(line, "Z") && !absl::StrContains(line, "X");
    }
  }
  return false;
}

TEST_F(RunProgramTest, KillsOneThatHangsWithAllThatItStarted) {
  const absl::Status status =
      Shell("sleep 1000 &\necho $! >\"$(dirname \"$0\")/pid\"\nwait",
            milliseconds(500))
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  const std::vector<std::string> pids = LinesOf(folder_.File("pid"));
  ASSERT_EQ(pids.size(), 1U);
  for (int i = 0; i < 500 && Runs(pids[0]); ++i) usleep(10'000);
  EXPECT_FALSE(Runs(pids[0]));
}

TEST_F(RunProgramTest, DoesNotWaitForWhatAProgramLeftBehind) {
  ASSERT_OK_AND_ASSIGN(const Ran ran, Shell("sleep 5 &\necho gone"));
  EXPECT_EQ(ran.last_line, "gone");
}

TEST_F(RunProgramTest, EndsWhenTheCoordinatorStops) {
  stop_ = StopSign([] { return true; });
  EXPECT_TRUE(absl::IsCancelled(Shell("sleep 1000").status()));
}

TEST_F(RunProgramTest, SaysWhyNothingCanStart) {
  const absl::Status status =
      RunProgram(
          {.words = {folder_.File("none")}, .variables = {}, .input = ""},
          stop_)
          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be started"));
}

}  // namespace
}  // namespace frostline::server
