// SPDX-License-Identifier: Apache-2.0
//
// docs/how-to/second-node.md with the real programs: a CA, a coordinator over
// TLS, a worker with a certificate, people with tokens, and who is refused.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTls[] =
    " --tls-cert frostline-tls/coordinator.crt"
    " --tls-key frostline-tls/coordinator.key --tls-ca frostline-tls/ca.crt";

constexpr char kStudy[] = R"(
id: small
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: 3
seed: 7
space:
  modules:
    embeddings: &rates [0, 1e-3, 1e-2]
    "layer.*": *rates
    head: *rates
)";

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SecondNodeFlowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Run("frostline tls init --host 127.0.0.1"), kExitOk) << output_;
    ASSERT_EQ(
        Run(absl::StrCat("frostline serve --data ./frost --listen 127.0.0.1:0 "
                         "--listen tls:127.0.0.1:0 --log-level debug",
                         Tls(), " >serve.log 2>&1 & echo $! >serve.pid")),
        kExitOk);
    for (int i = 0; i < 200 && Address(2).empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_FALSE(Address(2).empty()) << TextOf(folder_.File("serve.log"));
  }

  void TearDown() override {
    const std::string pid = TextOf(folder_.File("serve.pid"));
    if (!pid.empty()) kill(std::atoi(pid.c_str()), SIGTERM);
    // Its folder goes when it has.
    for (int i = 0; i < 200 && kill(std::atoi(pid.c_str()), 0) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  virtual std::string Tls() const { return kTls; }

  // Returns the address in the n-th line "listening on …".
  std::string Address(int n) {
    std::string log = TextOf(folder_.File("serve.log"));
    const std::string begin = "listening on ";
    std::size_t at = 0;
    for (int i = 0; i < n; ++i) {
      at = log.find(begin, at);
      if (at == std::string::npos) return "";
      at += begin.size();
    }
    const std::size_t end = log.find('\n', at);
    return end == std::string::npos ? "" : log.substr(at, end - at);
  }

  // The exit code; what was said is in output_.
  int Run(const std::string& command) {
    const std::string bin = std::getenv("FROSTLINE_BIN_DIR");
    std::ofstream(folder_.File("command.sh"))
        << "cd '" << folder_.path().string() << "'\nexport PATH=" << bin
        << ":$PATH NEAR='--connect " << Address(1)
        << "'\nexport AT=" << Address(2) << "\nexport AFAR='--connect "
        << Address(2) << " --tls-ca frostline-tls/ca.crt'\n"
        << command << "\n";
    const std::string shell =
        "bash '" + folder_.File("command.sh") + "' </dev/null 2>&1";
    std::FILE* const pipe = popen(shell.c_str(), "r");
    output_.clear();
    char buffer[4096];
    for (std::size_t size;
         (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      output_.append(buffer, size);
    }
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void ExpectDenied(const std::string& command, const std::string& id) {
    EXPECT_EQ(Run(command), kExitAuth) << command << "\n" << output_;
    EXPECT_THAT(output_, HasSubstr(id)) << command;
  }

  void MakeTokens() {
    ASSERT_EQ(Run("frostline $NEAR token create --role researcher --subject ana"
                  " --out ana.token"),
              kExitOk)
        << output_;
    // Printed once, the secret alone on standard output.
    ASSERT_EQ(Run("umask 077; frostline $NEAR token create --role viewer "
                  "--subject vic 2>said >vic.token"),
              kExitOk);
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(SecondNodeFlowTest, TrainsOverTlsAndRefusesTheRest) {
  MakeTokens();
  std::ofstream(folder_.File("small.yaml")) << kStudy;
  EXPECT_EQ(Run("frostline $AFAR --token-file ana.token whoami"), kExitOk);
  EXPECT_THAT(output_, StartsWith("ana, researcher, by token, until 20"));
  ExpectDenied("frostline $AFAR --token-file vic.token study create small.yaml",
               "FL-4012");
  ASSERT_EQ(
      Run("frostline $AFAR --token-file ana.token study create small.yaml"),
      kExitOk)
      << output_;

  ASSERT_EQ(Run("frostline tls issue --role worker --name w1"), kExitOk)
      << output_;
  const std::string worker =
      "frostline worker $AFAR --exec frostline-demo-trainer --run-dir runs "
      "--study small --exit-when-done";
  const std::string certificate =
      " --tls-cert frostline-tls/worker-w1.crt"
      " --tls-key frostline-tls/worker-w1.key";
  ExpectDenied(worker + " --id w2" + certificate, "FL-4013");
  ExpectDenied(worker + " --id w2", "FL-4009");
  ExpectDenied(worker + " --id w2 --token-file vic.token", "FL-4012");
  EXPECT_EQ(Run(worker + " --id w1" + certificate), kExitOk) << output_;
  EXPECT_EQ(Run("frostline $AFAR --token-file vic.token study show small"),
            kExitOk);
  EXPECT_THAT(output_, HasSubstr("COMPLETED"));
}

TEST_F(SecondNodeFlowTest, SaysWhatIsWrongWithCredentials) {
  MakeTokens();
  ExpectDenied("frostline $AFAR status", "FL-4009");
  ExpectDenied(
      "chmod 644 vic.token; frostline $AFAR --token-file vic.token "
      "whoami",
      "FL-4014");
  ASSERT_EQ(Run("frostline tls init --host 127.0.0.1 --folder other"), kExitOk);
  ExpectDenied("frostline --connect $AT --tls-ca other/ca.crt status",
               "FL-4015");
  ASSERT_EQ(Run("frostline $NEAR token list --json"), kExitOk);
  const std::string list = output_;
  const std::string key = "\"id\":";
  std::string id = list.substr(list.find(key) + key.size());
  id = id.substr(id.find('"') + 1, 16);
  ASSERT_EQ(Run("frostline $NEAR token revoke " + id), kExitOk) << output_;
  EXPECT_EQ(
      Run("frostline $AFAR --token-file ana.token whoami; a=$?; chmod 600 "
          "vic.token; frostline $AFAR --token-file vic.token whoami; "
          "echo $a $?"),
      kExitOk);
  EXPECT_THAT(output_, HasSubstr("FL-4010"));
}

TEST_F(SecondNodeFlowTest, RefusesToStartUnsafely) {
  EXPECT_EQ(Run("frostline serve --ephemeral --listen 0.0.0.0:0"), kExitUsage);
  EXPECT_THAT(output_, HasSubstr("frostline tls init --host HOST"));
  ASSERT_EQ(
      Run("cp frostline-tls/coordinator.key open.key; chmod 644 open.key"),
      kExitOk);
  ExpectDenied(
      "frostline serve --ephemeral --listen 0.0.0.0:0 --tls-cert "
      "frostline-tls/coordinator.crt --tls-key open.key",
      "FL-4014");
  EXPECT_EQ(Run("mkdir open; chmod 777 open; frostline serve --data open "
                "--listen 127.0.0.1:0"),
            kExitConflict);
  EXPECT_THAT(output_, HasSubstr("FL-3011"));
  EXPECT_EQ(Run("frostline tls init --host 127.0.0.1"), kExitAuth);
  EXPECT_THAT(output_, HasSubstr("has a CA already"));
}

TEST_F(SecondNodeFlowTest, SecretsAreInNoLogAndNoDatabase) {
  MakeTokens();
  ASSERT_EQ(Run("frostline $AFAR --token-file vic.token whoami --json; "
                "frostline $NEAR token list; frostline $NEAR token list --json"
                " >list.json; frostline $NEAR backup"),
            kExitOk)
      << output_;
  std::string seen = output_;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_.path())) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && !absl::EndsWith(path, ".token")) {
      seen += TextOf(path);
    }
  }
  for (const char* const file : {"ana.token", "vic.token"}) {
    const std::string text = TextOf(folder_.File(file));
    const std::string secret = text.substr(text.rfind('_') + 1, 64);
    ASSERT_EQ(secret.size(), 64u) << file;
    EXPECT_EQ(seen.find(secret), std::string::npos) << file;
    EXPECT_NE(seen.find(text.substr(6, 16)), std::string::npos);  // its id
  }
}

// A worker that joins by an invitation.
class JoinFlowTest : public SecondNodeFlowTest {
 protected:
  std::string Tls() const override { return " --tls frostline-tls"; }

  // TOKEN@HOST:PORT#FINGERPRINT of what is printed for this worker.
  std::string Invite(const std::string& worker) {
    EXPECT_EQ(Run("frostline $NEAR worker invite --id " + worker), kExitOk)
        << output_;
    const std::string begin = "frostline worker --join ";
    const std::size_t at = output_.find(begin);
    if (at == std::string::npos) return "";
    const std::size_t start = at + begin.size();
    return output_.substr(start, output_.find(' ', start) - start);
  }

  void CreateStudy() {
    std::ofstream(folder_.File("small.yaml")) << kStudy;
    ASSERT_EQ(Run("frostline $NEAR study create small.yaml"), kExitOk)
        << output_;
  }

  // Everything that lies in the folder of the test, but the command itself.
  std::string AllFiles() const {
    std::string all;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_.path())) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file() && !absl::EndsWith(path, "command.sh")) {
        all += TextOf(path);
      }
    }
    return all;
  }
};

// In database and audit, of each such call.
constexpr char kJoinMethod[] = "WorkerService.Join";
constexpr char kWorker[] =
    "frostline worker --exec frostline-demo-trainer --study small "
    "--exit-when-done ";

TEST_F(JoinFlowTest, JoinsOnceTrainsAndStartsAgainByItself) {
  CreateStudy();
  const std::string line = Invite("w1");
  EXPECT_EQ(Run(kWorker + absl::StrCat("--id w1 --run-dir runs --join '", line,
                                       "' 2>worker.log")),
            kExitOk)
      << TextOf(folder_.File("worker.log"));
  EXPECT_EQ(Run("frostline $NEAR study show small"), kExitOk);
  EXPECT_THAT(output_, HasSubstr("COMPLETED"));
  EXPECT_EQ(Run(kWorker + std::string("--run-dir runs")), kExitOk) << output_;
  EXPECT_THAT(output_, HasSubstr(" registered worker=workers/w1"));
  ExpectDenied(
      kWorker + absl::StrCat("--id w1 --run-dir b --join '", line, "'"),
      "FL-4017");
  EXPECT_NE(AllFiles().find(kJoinMethod), std::string::npos);
  const std::string secret = line.substr(line.find('@') - 64, 64);
  EXPECT_EQ(AllFiles().find(secret), std::string::npos);
}

TEST_F(JoinFlowTest, SendsNothingToAnotherCoordinator) {
  std::string line = Invite("w1");
  line.back() = line.back() == '0' ? '1' : '0';
  ExpectDenied(kWorker + absl::StrCat("--id w1 --join '", line, "'"),
               "FL-4020");
  EXPECT_EQ(AllFiles().find(kJoinMethod), std::string::npos);
}

class RenewalFlowTest : public JoinFlowTest {
 protected:
  std::string Tls() const override {
    return " --tls frostline-tls --certificate-life 8s";
  }
};

TEST_F(RenewalFlowTest, OutlivesItsCertificates) {
  const std::string begin = absl::StrCat(
      "frostline worker --exec frostline-demo-trainer --id w1 --run-dir runs "
      "--join '",
      Invite("w1"), "' >worker.log 2>&1 & echo $! >worker.pid");
  ASSERT_EQ(Run(begin), kExitOk);
  const auto renewals = [this] {
    const std::string log = TextOf(folder_.File("worker.log"));
    return std::vector<std::string>(
               absl::StrSplit(log, " certificate_renewed "))
               .size() -
           1;
  };
  for (int i = 0; i < 800 && renewals() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(renewals(), 2U) << TextOf(folder_.File("worker.log"));
  CreateStudy();
  EXPECT_EQ(Run("frostline $NEAR study watch small --until-done"), kExitOk)
      << output_;
  EXPECT_EQ(Run("kill $(cat worker.pid)"), kExitOk);
  const std::string log = TextOf(folder_.File("worker.log"));
  EXPECT_EQ(log.find("registered_again"), std::string::npos) << log;
  EXPECT_EQ(log.find("denied"), std::string::npos) << log;
}

}  // namespace
}  // namespace frostline::test
