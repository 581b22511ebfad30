// SPDX-License-Identifier: Apache-2.0
#include "server/notify/deliver.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "tests/server/notify/receiver.h"
#include "tests/server/notify/script.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

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

using std::chrono::milliseconds;
using testing::IsEmpty;

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
