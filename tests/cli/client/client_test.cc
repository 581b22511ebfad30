// SPDX-License-Identifier: Apache-2.0
#include "cli/client/client.h"

#include <chrono>
#include <deque>
#include <mutex>

#include "base/error.h"
#include "cli/client/watcher.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRefused[] =
    "failed to connect to all addresses; last error: UNKNOWN: "
    "ipv4:127.0.0.1:21999: Failed to connect to remote host: Connection "
    "refused";

std::string CauseOf(const std::string& address, const std::string& said) {
  return std::string(CoordinatorAway(address, said).message());
}

std::string FixOf(const std::string& address) {
  return DetailOf(CoordinatorAway(address, kRefused))->fix;
}

TEST(CoordinatorAway, SaysInPlainWordsWhatIsKnown) {
  EXPECT_EQ(CauseOf("127.0.0.1:21999", kRefused),
            "nothing listens at 127.0.0.1:21999");
  EXPECT_EQ(
      CauseOf("unix:/tmp/none", "connect failed: No such file or directory"),
      "there is no socket at unix:/tmp/none");
  EXPECT_EQ(CauseOf("lost.example:7070",
                    "DNS resolution failed for lost.example:7070: C-ares "
                    "status is not ARES_SUCCESS: Domain name not found"),
            "lost.example:7070: there is no machine of this name");
  EXPECT_THAT(CauseOf("a:1", "something new"), HasSubstr("something new"));
}

TEST(CoordinatorAway, ItsFixStartsOneAtThisAddress) {
  EXPECT_THAT(FixOf("127.0.0.1:21999"),
              HasSubstr("`frostline serve --data frost --listen "
                        "127.0.0.1:21999`"));
  EXPECT_THAT(FixOf("127.0.0.1:7070"),
              HasSubstr("`frostline serve --data frost`"));
  EXPECT_THAT(FixOf("gpu-head.lan:7443"), Not(HasSubstr("serve")));
}

TEST(CoordinatorAway, OneThatBreaksOffMaySpeakTlsAlone) {
  const absl::Status status =
      CoordinatorAway("127.0.0.1:7443", "Socket closed");
  EXPECT_EQ(status.message(), "127.0.0.1:7443 has broken off the connection");
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("--tls-ca FILE"));
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("frostline serve"));
  EXPECT_THAT(FixOf("127.0.0.1:7443"), Not(HasSubstr("--tls-ca")));
  EXPECT_THAT(DetailOf(CoordinatorAway("unix:/tmp/s", "Socket closed"))->fix,
              Not(HasSubstr("--tls-ca")));
}

TEST(Client, ItsOwnLimitHasAnIdToo) {
  ASSERT_OK_AND_ASSIGN(const auto client, Client::Open("127.0.0.1:1"));
  client->LimitCalls(std::chrono::milliseconds(1500));
  const absl::Status status = client->Explain(
      {grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"});
  EXPECT_TRUE(HasErrorId(status, ErrorId::kDeadlinePassed));
  EXPECT_EQ(status.message(), "127.0.0.1:1 has not answered in 1.5 s");
}

// The client and the watcher against a server that breaks off.

// Answers one script after the other: some events, then a status.
class ScriptedStudies final : public v1::StudyService::Service {
 public:
  struct Script {
    std::vector<std::int64_t> revisions;
    grpc::Status end;
  };

  std::deque<Script> scripts;
  std::vector<std::int64_t> asked_after;
  std::vector<std::string> request_ids;

  grpc::Status PauseStudy(grpc::ServerContext*,
                          const v1::PauseStudyRequest* request,
                          v1::Study*) override {
    request_ids.push_back(request->request_id());
    return grpc::Status::OK;
  }

  grpc::Status WatchStudy(grpc::ServerContext*,
                          const v1::WatchStudyRequest* request,
                          grpc::ServerWriter<v1::StudyEvent>* writer) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_after.push_back(request->after_revision());
    if (scripts.empty()) return {grpc::StatusCode::NOT_FOUND, "no more"};
    const Script script = scripts.front();
    scripts.pop_front();
    for (const std::int64_t revision : script.revisions) {
      v1::StudyEvent event;
      event.set_revision(revision);
      event.mutable_trial()->set_number(revision);
      writer->Write(event);
    }
    return script.end;
  }

 private:
  std::mutex mutex_;
};

class WatcherTest : public testing::Test {
 protected:
  WatcherTest() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&studies_);
    server_ = builder.BuildAndStart();
    client_ = *Client::Open("127.0.0.1:" + std::to_string(port));
  }
  ~WatcherTest() override { server_->Shutdown(); }

  // Watches until `last` has been seen.
  absl::Status WatchUntil(std::int64_t last, Duration patience = kPatience,
                          Duration timeout = Duration::zero()) {
    WatchOptions options{.study = "studies/demo", .after_revision = 5};
    options.patience = patience;
    options.timeout = timeout;
    options.first_pause = options.longest_pause = std::chrono::milliseconds(1);
    return Watch(*client_, options,
                 {.on_event =
                      [&](const v1::StudyEvent& event) {
                        seen_.push_back(event.revision());
                        return event.revision() != last;
                      },
                  .on_break = [&](const absl::Status&) { ++breaks_; }});
  }

  static constexpr Duration kPatience = std::chrono::seconds(30);
  ScriptedStudies studies_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Client> client_;
  std::vector<std::int64_t> seen_;
  int breaks_ = 0;
};

const grpc::Status kAway(grpc::StatusCode::UNAVAILABLE, "restarting");

TEST_F(WatcherTest, AChangeWithoutAnIdIsGivenOne) {
  v1::PauseStudyRequest request;
  const auto pause = [&] {
    ASSERT_OK(
        client_->Call(&v1::StudyService::Stub::PauseStudy, request).status());
  };
  pause();
  pause();
  request.set_request_id("mine");
  pause();
  ASSERT_EQ(studies_.request_ids.size(), 3U);
  EXPECT_NE(studies_.request_ids[0], "");
  EXPECT_NE(studies_.request_ids[0], studies_.request_ids[1]);
  EXPECT_EQ(studies_.request_ids[2], "mine");
}

TEST_F(WatcherTest, GoesOnFromTheLastRevisionItSaw) {
  // One that is about to end cancels what it has accepted.
  const grpc::Status ends(grpc::StatusCode::CANCELLED, "");
  studies_.scripts = {
      {{6, 7}, kAway}, {{}, kAway}, {{}, ends}, {{8, 9}, kAway}};
  EXPECT_OK(WatchUntil(9));
  EXPECT_THAT(seen_, ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(studies_.asked_after, ElementsAre(5, 7, 7, 7));
  EXPECT_EQ(breaks_, 3);
}

TEST_F(WatcherTest, EndsWithAnErrorThatDoesNotPass) {
  studies_.scripts = {{{6}, kAway}};  // then NOT_FOUND
  EXPECT_TRUE(absl::IsNotFound(WatchUntil(9)));
  EXPECT_THAT(seen_, ElementsAre(6));
}

TEST_F(WatcherTest, LosesPatience) {
  studies_.scripts = {{{6}, kAway}, {{}, kAway}, {{}, kAway}, {{}, kAway}};
  EXPECT_THAT(WatchUntil(9, Duration::zero()),
              FailsWith(ErrorId::kCoordinatorAway));
}

TEST_F(WatcherTest, EndsWhenItsTimeIsOver) {
  studies_.scripts.resize(100'000, {{}, kAway});
  EXPECT_THAT(WatchUntil(9, kPatience, std::chrono::milliseconds(50)),
              FailsWith(ErrorId::kDeadlinePassed));
  EXPECT_GT(breaks_, 0);
}

TEST(Client, RefusesWhatIsNoAddress) {
  for (const char* const address :
       {"", "localhost", "host:", ":7070", "host:0", "host:65536", "host:x",
        "http://host:7070"}) {
    EXPECT_THAT(Client::Open(address), FailsWith(ErrorId::kRequestInvalid))
        << address;
  }
  EXPECT_OK(Client::Open("[::1]:7070"));
}

}  // namespace
}  // namespace frostline::cli
