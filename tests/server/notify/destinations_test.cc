// SPDX-License-Identifier: Apache-2.0
#include "server/notify/destinations.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

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

}  // namespace
}  // namespace frostline::server
