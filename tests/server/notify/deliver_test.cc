// SPDX-License-Identifier: Apache-2.0
#include "server/notify/deliver.h"

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

}  // namespace
}  // namespace frostline::server
