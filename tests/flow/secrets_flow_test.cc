// SPDX-License-Identifier: Apache-2.0
//
// A whole session with the real programs, and a search for each of its secrets
// in all that was printed, logged and stored, in every process's command line
// and in core dumps. Each secret may be in the one file that is its own.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/record.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kStudy[] = R"(
id: small
model: {id: demo-mlp, layers: 6, no_pooler: true}
data: demo
trainer: frostline-demo-trainer
maximize: accuracy
budget: 2
seed: 7
space:
  modules:
    embeddings: &rates [0, 1e-3, 1e-2]
    "layer.*": *rates
    head: *rates
)";

// What each lease's worker was shown, computed as worker_book.h says; a sum
// that does not match what is stored ends it.
constexpr char kLeaseSecrets[] =
    "python3 - <<'END'\n"
    "import hashlib, sqlite3, struct\n"
    "key = open('frost/frostline.lease-key').read().strip().encode()\n"
    "db = sqlite3.connect('file:frost/frostline.sqlite?mode=ro', uri=True)\n"
    "field = lambda text: struct.pack('<Q', len(text)) + text\n"
    "for row in db.execute('select study, number, attempt, secret '\n"
    "                      'from attempts'):\n"
    "  version, salt, proof = bytes(row[3]).decode('ascii').split(':')\n"
    "  half = hashlib.sha256(field(key) + field(salt.encode()) +\n"
    "                        struct.pack('<3Q', *row[:3])).hexdigest()[:32]\n"
    "  shown = salt + half\n"
    "  assert hashlib.sha256(shown.encode()).hexdigest() == proof\n"
    "  print(shown)\n"
    "END";

// Those that have their end: a file may grow while it is read.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  return lines;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SecretsFlowTest : public ::testing::Test {
 protected:
  ~SecretsFlowTest() override {
    for (const char* const name : {"serve", "worker"}) {
      const pid_t pid = PidOf(name);
      if (pid <= 0) continue;
      kill(pid, SIGKILL);
      for (int i = 0; i < 200 && kill(pid, 0) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }

  pid_t PidOf(const std::string& name) const {
    const std::string text = TextOf(folder_.File(name + ".pid"));
    return text.empty() ? 0 : std::atoi(text.c_str());
  }

  // Standard output; both outputs are kept in said_. What a command writes into
  // files of the folder is looked at in the end.
  std::string Run(const std::string& command, int expected = kExitOk) {
    std::ofstream(folder_.File("command.sh"))
        << "cd '" << folder_.path().string() << "'\nunset ${!FROSTLINE_*} "
        << "XDG_CONFIG_HOME\nulimit -c unlimited\n"
        << "export HOME=$PWD/home NEAR=" << near_ << " AT=" << afar_
        << " PATH=" << std::getenv("FROSTLINE_BIN_DIR") << ":$PATH\n"
        << command << "\n";
    const std::string shell =
        absl::StrCat("bash '", folder_.File("command.sh"), "' </dev/null 2>'",
                     folder_.File("err.txt"), "'");
    std::FILE* const pipe = popen(shell.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t size;
         (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      out.append(buffer, size);
    }
    const int status = pclose(pipe);
    const std::string err = TextOf(folder_.File("err.txt"));
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, expected)
        << command << "\n"
        << out << err;
    said_[command] += err;
    return out;
  }
  // The same for what may be searched as a whole.
  void Say(const std::string& command, int expected = kExitOk) {
    said_[command] += Run(command, expected);
  }

  void Serve() {
    Say("frostline tls init --host 127.0.0.1");
    Say("frostline serve --data ./frost --listen 127.0.0.1:0 --listen "
        "tls:127.0.0.1:0 --tls frostline-tls --log-level debug >serve.log 2>&1 "
        "& echo $! >serve.pid");
    const std::string begin = "listening on ";
    for (int i = 0; i < 400 && afar_.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::vector<std::string> addresses;
      for (const std::string& line :
           LinesOf(TextOf(folder_.File("serve.log")))) {
        if (absl::StartsWith(line, begin)) {
          addresses.push_back(line.substr(begin.size()));
        }
      }
      if (addresses.size() < 2) continue;
      near_ = addresses[0];
      afar_ = addresses[1];
    }
    ASSERT_FALSE(afar_.empty()) << TextOf(folder_.File("serve.log"));
  }

  // The part of a token that is no id.
  void PlantToken(const std::string& token, const std::string& own_file) {
    const std::string secret = token.substr(token.rfind('_') + 1, 64);
    ASSERT_EQ(secret.size(), 64u) << own_file;
    Plant(secret, own_file);
  }
  void Plant(const std::string& secret, const std::string& own_file) {
    secrets_[secret].push_back(own_file);
  }
  void PlantKey(const std::string& file) {
    for (const std::string& line : LinesOf(TextOf(folder_.File(file)))) {
      if (line.size() > 32 && !absl::StartsWith(line, "-----")) {
        Plant(line, file);
      }
    }
  }

  // Where secrets are that have no business there.
  std::vector<std::string> Search() const {
    std::vector<std::string> found;
    const auto look = [&](const std::string& where, const std::string& text) {
      for (const auto& [secret, own] : secrets_) {
        const bool is_own =
            std::find(own.begin(), own.end(), where) != own.end();
        if (!is_own && absl::StrContains(text, secret)) {
          found.push_back(where);
        }
      }
    };
    for (const auto& [command, text] : said_) look("said: " + command, text);
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      look(fs::relative(entry.path(), folder_.path()).string(),
           TextOf(entry.path().string()));
    }
    for (const auto& entry : fs::directory_iterator("/proc")) {
      look("/proc: command lines", TextOf(entry.path().string() + "/cmdline"));
    }
    return found;
  }

  TempFolder folder_;
  std::string near_;
  std::string afar_;
  std::map<std::string, std::string> said_;
  std::map<std::string, std::vector<std::string>> secrets_;
};

TEST_F(SecretsFlowTest, AreInTheirOwnFilesAlone) {
  fs::create_directory(folder_.File("home"));
  Serve();
  PlantKey("frostline-tls/ca.key");
  PlantKey("frostline-tls/coordinator.key");
  Say("frostline --connect $NEAR token create --role admin --subject ana --out "
      "ana.token");
  const std::string lab = "home/.config/frostline/contexts/lab/token";
  const std::string ana = TextOf(folder_.File("ana.token"));
  PlantToken(ana, "ana.token");
  PlantToken(ana, lab);
  PlantToken(Run("frostline --connect $NEAR token create --role viewer "
                 "--subject vic"),
             "");
  Say("frostline login $AT --tls-ca frostline-tls/ca.crt --name lab "
      "<ana.token");

  // A token with a byte changed, and a study by who may not.
  std::string wrong = ana;
  char& changed = wrong[wrong.size() - 2];
  changed = changed == '0' ? '1' : '0';
  std::ofstream(folder_.File("wrong.token")) << wrong;
  chmod(folder_.File("wrong.token").c_str(), 0600);
  PlantToken(wrong, "wrong.token");
  std::ofstream(folder_.File("small.yaml")) << kStudy;
  Say("frostline study create small.yaml --token-file wrong.token --json",
      kExitAuth);
  Say("frostline login $AT --tls-ca frostline-tls/ca.crt --name no "
      "--token-file wrong.token",
      kExitAuth);
  Say("frostline study create small.yaml");
  Say("frostline status --json; frostline status; frostline whoami --json");

  const std::string line = Run("frostline worker invite --id w1");
  EXPECT_THAT(line, HasSubstr(absl::StrCat("@", afar_, "#")));
  PlantToken(line.substr(0, line.find('@')), "");
  Say("frostline tls issue --role worker --name w2");
  PlantKey("frostline-tls/worker-w2.key");
  Say("frostline worker --connect $AT --tls-ca frostline-tls/ca.crt --tls-cert "
      "frostline-tls/worker-w2.crt --tls-key frostline-tls/worker-w2.key --id "
      "w2 --exec frostline-demo-trainer --run-dir runs --study small --keep "
      "none --exit-when-done --log-level debug");
  const std::string leases = Run(kLeaseSecrets);
  const std::vector<std::string> shown =
      absl::StrSplit(leases, '\n', absl::SkipEmpty());
  EXPECT_EQ(shown.size(), 2u) << leases;
  for (const std::string& secret : shown) Plant(secret, "");
  Plant(TextOf(folder_.File("frost/frostline.lease-key")).substr(0, 64),
        "frost/frostline.lease-key");

  Say("frostline token list; frostline token list --json; frostline cert list; "
      "frostline cert list --json; frostline context list --json; frostline "
      "context show --json; frostline context show");
  const std::string id = ana.substr(6, 16);
  Say("frostline token rotate " + id + " --out ana2.token");
  PlantToken(TextOf(folder_.File("ana2.token")), "ana2.token");
  Say("frostline audit; frostline audit --json");
  Say("frostline audit verify frost");
  EXPECT_THAT(said_["frostline audit verify frost"], HasSubstr(", whole"));
  EXPECT_THAT(said_["frostline audit; frostline audit --json"],
              HasSubstr("TOKEN_INVALID"));
  const auto found = Search();
  EXPECT_THAT(found, IsEmpty());
  Record record;
  record["secrets"] = static_cast<std::int64_t>(secrets_.size());
  record.AddViolations(found.size());

  // The search itself: it finds what is there, and as much as there was.
  EXPECT_GE(secrets_.size(), 10u);
  said_["planted"] = "x " + secrets_.begin()->first + " y";
  EXPECT_THAT(Search(), SizeIs(1));
}

// A shell in the background ignores SIGQUIT; SIGABRT dumps as that does.
TEST_F(SecretsFlowTest, AreInNoCore) {
  fs::create_directory(folder_.File("home"));
  Serve();
  Say("frostline worker --connect $NEAR --id w1 --exec frostline-demo-trainer "
      "--run-dir runs >worker.log 2>&1 & echo $! >worker.pid");
  for (int i = 0; i < 400; ++i) {
    if (absl::StrContains(Run("frostline --connect $NEAR worker list"), "w1")) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const char* const name : {"worker", "serve"}) {
    const pid_t pid = PidOf(name);
    kill(pid, SIGABRT);
    for (int i = 0; i < 400 && kill(pid, 0) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_NE(kill(pid, 0), 0) << name;
  }
  Run("frostline --connect 127.0.0.1:1 status --wait 60s & sleep 1; kill -ABRT "
      "$!; wait $!; [ $? = 134 ]");
  EXPECT_EQ(Run("ls | grep -c '^core'", 1), "0\n");
  // The same shell, and a program that may dump.
  Run("sleep 60 & sleep 0.2; kill -ABRT $!; wait $!; [ $? = 134 ]");
  if (Run("ls | grep -c '^core' || true") == "0\n") {
    GTEST_SKIP() << "no process leaves a core in its folder on this machine";
  }
}

}  // namespace
}  // namespace frostline::test
