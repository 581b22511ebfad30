// SPDX-License-Identifier: Apache-2.0
//
// frostline-worker --join, the program itself: what others see of its token,
// death at the worst moment, a proxy, and certificates that run out.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/agent/join_rig.h"
#include "tests/worker/agent/rig.h"
#include "tls/private_file.h"

namespace frostline::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class JoinBinaryTest : public ::testing::Test {
 protected:
  JoinBinaryTest() {
    trainer_ = WriteTrainer(rig_.File("trainer.py"), "finish('succeeded')");
  }
  ~JoinBinaryTest() override { Kill(); }

  // With standard input from `input`, and variables of `environment_`.
  void Start(const std::vector<std::string>& more,
             const std::string& input = "") {
    std::vector<std::string> words = {
        std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline-worker",
        "--study",
        "s",
        "--exit-when-done",
        "--run-dir",
        rig_.File("runs"),
        "--exec",
        trainer_,
        "--log-level",
        "debug"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::ofstream(rig_.File("input")) << input;
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(open(rig_.File("input").c_str(), O_RDONLY), 0);
    dup2(open(LogPath().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    for (const auto& [name, value] : environment_) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    execv(pointers[0], pointers.data());
    _exit(99);
  }

  int Wait() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  void Kill() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    Wait();
  }

  bool AwaitFinishes(std::size_t count) {
    return rig_.coordinator().Await(
        [count](const Heard& heard) { return heard.finishes.size() >= count; });
  }

  std::string LogPath() const { return rig_.File("log"); }
  std::string Log() const { return TextOf(LogPath()); }

  JoinRig rig_;
  std::string trainer_;
  std::map<std::string, std::string> environment_;
  pid_t pid_ = -1;
};

TEST_F(JoinBinaryTest, JoinsTrainsAndStartsAgainWithoutALine) {
  rig_.coordinator().Offer(1);
  Start({"--id", "w", "--join", rig_.Line()});
  ASSERT_TRUE(AwaitFinishes(1)) << Log();
  const std::string seen = TextOf("/proc/" + std::to_string(pid_) + "/cmdline");
  EXPECT_THAT(seen, HasSubstr("--join"));
  EXPECT_THAT(seen, HasSubstr(rig_.coordinator().address()));
  EXPECT_THAT(seen, Not(HasSubstr(kJoinSecret)));
  EXPECT_THAT(seen, Not(HasSubstr("frost_")));
  rig_.coordinator().EndStudy();
  EXPECT_EQ(Wait(), 0) << Log();
  Start({"--id", "w"});
  EXPECT_EQ(Wait(), 0) << Log();
  const Heard heard = rig_.coordinator().heard();
  EXPECT_THAT(heard.joins, SizeIs(1));
  EXPECT_THAT(heard.registers, SizeIs(2));
  EXPECT_THAT(heard.certificates, SizeIs(1));
  // No secret is anywhere, in the log or in the run folder.
  std::string all = Log();
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(rig_.File("runs"))) {
    if (entry.is_regular_file()) all += TextOf(entry.path().string());
  }
  EXPECT_THAT(all, HasSubstr(" joined "));
  EXPECT_EQ(all.find(kJoinSecret), std::string::npos);
}

TEST_F(JoinBinaryTest, ReadsTheLineFromStandardInputOrAFile) {
  rig_.coordinator().EndStudy();
  Start({"--id", "w", "--join", "-"}, rig_.Line() + "\n");
  EXPECT_EQ(Wait(), 0) << Log();
  EXPECT_THAT(rig_.coordinator().heard().joins, SizeIs(1));
  std::filesystem::remove_all(rig_.File("runs"));
  std::ofstream(rig_.File("line")) << rig_.Line() << "\n";
  ASSERT_EQ(chmod(rig_.File("line").c_str(), 0644), 0);
  Start({"--id", "w", "--join", rig_.File("line")});
  EXPECT_EQ(Wait(), kExitAuth);
  EXPECT_THAT(Log(), HasSubstr("chmod 600"));
  ASSERT_EQ(chmod(rig_.File("line").c_str(), 0600), 0);
  Start({"--id", "w", "--join=" + rig_.File("line")});
  EXPECT_EQ(Wait(), 0) << Log();
  EXPECT_THAT(rig_.coordinator().heard().joins, SizeIs(2));
}

TEST_F(JoinBinaryTest, SaysNothingOfABrokenLine) {
  for (const std::string& line :
       {kJoinToken, kJoinToken + "@h", rig_.Line() + "0"}) {
    Start({"--id", "w", "--join", line});
    EXPECT_EQ(Wait(), kExitUsage);
  }
  Start({"--join", rig_.Line(), "--connect", "127.0.0.1:7070"});
  EXPECT_EQ(Wait(), kExitUsage);
  EXPECT_THAT(Log(), HasSubstr("TOKEN@HOST:PORT#FINGERPRINT"));
  EXPECT_THAT(Log(), Not(HasSubstr(kJoinSecret.substr(0, 20))));
}

// The environment may have what other commands of this user need.
TEST_F(JoinBinaryTest, TheLineGoesBeforeTheEnvironment) {
  environment_ = {{"FROSTLINE_CONNECT", "127.0.0.1:1"},
                  {"FROSTLINE_TLS_CA", "/nowhere"}};
  rig_.coordinator().EndStudy();
  Start({"--id", "w", "--join", rig_.Line()});
  EXPECT_EQ(Wait(), 0) << Log();
}

TEST_F(JoinBinaryTest, KilledBeforeItHasTheAnswerItGetsTheSameOne) {
  rig_.coordinator().EndStudy();
  rig_.BeforeAnswer([this] {
    kill(pid_, SIGKILL);
    rig_.BeforeAnswer(nullptr);
  });
  Start({"--id", "w", "--join", rig_.Line()});
  EXPECT_EQ(Wait(), 1000 + SIGKILL);
  Start({"--id", "w", "--join", rig_.Line()});
  EXPECT_EQ(Wait(), 0) << Log();
  const Heard heard = rig_.coordinator().heard();
  ASSERT_THAT(heard.joins, SizeIs(2));
  EXPECT_EQ(heard.joins[0].SerializeAsString(),
            heard.joins[1].SerializeAsString());
}

TEST_F(JoinBinaryTest, StopsWhileNobodyAnswers) {
  rig_.coordinator().GoAway();
  Start({"--id", "w", "--join", rig_.Line()});
  for (int i = 0; i < 1000 && Log().find("not_joined") == std::string::npos;
       ++i) {
    usleep(10'000);
  }
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), kExitRequeue);
}

// The proxy alone knows where head.test is.
TEST_F(JoinBinaryTest, JoinsAndWorksThroughAProxy) {
  Relay proxy(Relay::Kind::kConnectProxy, rig_.port());
  environment_["https_proxy"] =
      "http://127.0.0.1:" + std::to_string(proxy.port());
  environment_["no_proxy"] = "";
  rig_.coordinator().Offer(1);
  Start({"--id", "w", "--join", rig_.Line("head.test", 7443)});
  ASSERT_TRUE(AwaitFinishes(1)) << Log();
  rig_.coordinator().EndStudy();
  EXPECT_EQ(Wait(), 0) << Log();
  ASSERT_FALSE(proxy.asked().empty());
  EXPECT_THAT(proxy.asked()[0], HasSubstr("CONNECT head.test:7443"));
  EXPECT_EQ(proxy.sent().find(kJoinSecret), std::string::npos);
}

TEST_F(JoinBinaryTest, LivesThroughThreeRenewalsWithTrialsGoingOn) {
  rig_.SetLifetime(std::chrono::seconds(6));
  Start({"--id", "w", "--join", rig_.Line()});
  const auto begin = std::chrono::steady_clock::now();
  std::size_t trials = 0;
  const auto renewed = [this] {
    return rig_.coordinator().heard().renewals.size() >= 3;
  };
  // Each trial is done under whichever certificate holds then.
  while (!renewed()) {
    rig_.coordinator().Offer(static_cast<int>(++trials));
    ASSERT_TRUE(AwaitFinishes(trials)) << Log();
  }
  // The first ran out long ago.
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
  rig_.coordinator().Offer(static_cast<int>(++trials));
  ASSERT_TRUE(AwaitFinishes(trials)) << Log();
  rig_.coordinator().EndStudy();
  EXPECT_EQ(Wait(), 0) << Log();
  const Heard heard = rig_.coordinator().heard();
  EXPECT_THAT(heard.registers, SizeIs(1));  // it never began anew
  EXPECT_GE(heard.certificates.size(), 4U);
  EXPECT_THAT(Log(), Not(HasSubstr("denied")));
}

TEST_F(JoinBinaryTest, ARenewalThatFailsIsTriedAgain) {
  rig_.SetLifetime(std::chrono::seconds(6));
  rig_.coordinator().Refuse("RenewCertificate", ErrorId::kJoinUnavailable);
  Start({"--id", "w", "--join", rig_.Line()});
  ASSERT_TRUE(rig_.coordinator().Await(
      [](const Heard& heard) { return heard.renewals.size() == 2; }));
  const Heard heard = rig_.coordinator().heard();
  EXPECT_EQ(heard.renewals[0].SerializeAsString(),
            heard.renewals[1].SerializeAsString());
  rig_.coordinator().Offer(1);
  ASSERT_TRUE(AwaitFinishes(1)) << Log();
  EXPECT_THAT(Log(), HasSubstr("certificate_not_renewed"));
}

}  // namespace
}  // namespace frostline::agent
