// SPDX-License-Identifier: Apache-2.0
//
// The binary frostline-coordinator as a script or a scheduler sees it: what it
// prints, how it ends, with which exit code.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// A running coordinator; killed with the object if it has not ended.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    const std::string path = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                             "/frostline-coordinator";
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> out{}, err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 ||
        pipe2(err.data(), O_CLOEXEC) != 0) {
      std::abort();
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    if (posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(),
                    environ) != 0) {
      pid_ = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }

  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int signal) const { kill(pid_, signal); }

  // One line of its standard output, without the newline.
  std::string ReadLine() const {
    std::string line;
    char c = 0;
    while (read(out_, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  // All of its standard error; waits for its end.
  std::string ReadErrors() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = read(err_, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

  // Its exit code; -1 when a signal ended it.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

// In the form of all programs, and nothing but that.
void ExpectError(const std::string& text, const std::string& start) {
  EXPECT_THAT(text, StartsWith(start));
  EXPECT_THAT(text, HasSubstr("\n  because: "));
  EXPECT_THAT(text, HasSubstr("\n  fix: "));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 4) << text;
}

TEST(CoordinatorMainTest, SaysWhereItListensAndEndsCleanlyOnSigterm) {
  Process coordinator({"--ephemeral", "--listen", "127.0.0.1:0"});
  EXPECT_THAT(coordinator.ReadLine(),
              MatchesRegex("listening on 127\\.0\\.0\\.1:[1-9][0-9]*"));
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), kExitOk);
}

TEST(CoordinatorMainTest, SaysWhereThePageIsUnlessThereIsNone) {
  Process coordinator({"--ephemeral", "--listen", "127.0.0.1:0"});
  coordinator.ReadLine();
  EXPECT_THAT(coordinator.ReadLine(),
              MatchesRegex("page on http://127\\.0\\.0\\.1:[1-9][0-9]*/"));
  // Another takes another.
  Process second({"--ephemeral", "--listen", "127.0.0.1:0"});
  second.ReadLine();
  EXPECT_THAT(second.ReadLine(), StartsWith("page on http://127.0.0.1:"));
  // A socket for one user alone is not opened to the others by a page.
  for (const std::vector<std::string>& none :
       {std::vector<std::string>{
            "--listen", "unix:" + testing::TempDir() + "/main_test.sock"},
        std::vector<std::string>{"--listen", "127.0.0.1:0", "--http-listen",
                                 "none"}}) {
    std::vector<std::string> arguments = {"--ephemeral"};
    arguments.insert(arguments.end(), none.begin(), none.end());
    Process silent(arguments);
    EXPECT_THAT(silent.ReadLine(), StartsWith("listening on "));
    silent.Signal(SIGTERM);
    EXPECT_THAT(silent.ReadLine(), Not(StartsWith("page on ")));
  }
}

TEST(CoordinatorMainTest, RefusesAPageThatOthersCouldReach) {
  Process open({"--ephemeral", "--listen", "127.0.0.1:0", "--http-listen",
                "0.0.0.0:7071"});
  ExpectError(open.ReadErrors(), "error[FL-4002]");
  EXPECT_EQ(open.Wait(), kExitUsage);
}

TEST(CoordinatorMainTest, AComputationThatGoesOnDoesNotKeepItAlive) {
  setenv("FROSTLINE_FAILPOINT", "drain.after:sleep=120000", 1);
  Process coordinator({"--ephemeral", "--listen", "127.0.0.1:0"});
  unsetenv("FROSTLINE_FAILPOINT");
  coordinator.ReadLine();
  coordinator.Signal(SIGINT);
  EXPECT_THAT(coordinator.ReadErrors(), HasSubstr("ended_early"));
  EXPECT_EQ(coordinator.Wait(), kExitInterrupted);
}

TEST(CoordinatorMainTest, TellsCtrlCFromAStop) {
  Process coordinator({"--ephemeral", "--listen", "127.0.0.1:0"});
  coordinator.ReadLine();
  coordinator.Signal(SIGINT);
  EXPECT_EQ(coordinator.Wait(), kExitInterrupted);
}

// Files of what is started meanwhile are no longer than this.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(CoordinatorMainTest, ALimitOnFileSizesIsAFullDiskAndNoDeath) {
  int refused = 0;
  for (const rlim_t bytes :
       {0UL, 1UL, 4096UL, 20000UL, 40000UL, 200000UL, 4000000UL}) {
    SCOPED_TRACE(bytes);
    TempFolder folder;
    Process coordinator = [&] {
      const FileLimit limit(bytes);
      return Process(
          {"--data", folder.File("frost"), "--listen", "127.0.0.1:0"});
    }();
    const std::string line = coordinator.ReadLine();
    if (!line.empty()) {
      EXPECT_THAT(line, StartsWith("listening on "));
      coordinator.Signal(SIGTERM);
      EXPECT_EQ(coordinator.Wait(), kExitOk);
      continue;
    }
    ++refused;
    const std::string errors = coordinator.ReadErrors();
    EXPECT_THAT(errors, HasSubstr("error[FL-3004]: "));
    EXPECT_THAT(errors, HasSubstr("fix: "));
    EXPECT_EQ(coordinator.Wait(), kExitFailure);
  }
  EXPECT_GT(refused, 2);
}

// The disk of the ready file need not be that of the data. A file system of one
// page, which is taken, is mounted where the machine allows it.
TEST(CoordinatorMainTest, AReadyFileOnAFullDiskIsTheDisksError) {
  TempFolder folder;
  const std::string disk = folder.File("disk"), said = folder.File("said");
  std::filesystem::create_directory(disk);
  const std::string program =
      std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline-coordinator";
  const int status =
      std::system(("unshare -m sh -c \"mount -t tmpfs -o size=4k none " + disk +
                   " && head -c 4096 /dev/zero >" + disk + "/filler && exec " +
                   program + " --ephemeral --listen 127.0.0.1:0 --ready-file " +
                   disk + "/ready 2>" + said + "\"")
                      .c_str());
  std::ifstream file(said);
  const std::string errors{std::istreambuf_iterator<char>(file), {}};
  if (errors.empty()) GTEST_SKIP() << "no right to mount a file system";
  ExpectError(errors, "error[FL-3004]: the disk is full\n  because: --ready-");
  EXPECT_THAT(errors, HasSubstr("No space left on device"));
  EXPECT_EQ(WEXITSTATUS(status), kExitFailure);
}

TEST(CoordinatorMainTest, AReadyFileInNoFolderIsAMistakeOfTheCommand) {
  TempFolder folder;
  Process coordinator({"--ephemeral", "--listen", "127.0.0.1:0", "--ready-file",
                       folder.File("nowhere/ready")});
  ExpectError(coordinator.ReadErrors(), "error[FL-1016]: ");
  EXPECT_EQ(coordinator.Wait(), kExitUsage);
}

TEST(CoordinatorMainTest, EndsWhenItsDatabaseIsRemoved) {
  TempFolder folder;
  Process coordinator(
      {"--data", folder.File("frost"), "--listen", "127.0.0.1:0"});
  EXPECT_THAT(coordinator.ReadLine(), StartsWith("listening on "));
  std::filesystem::remove(folder.File("frost/frostline.sqlite"));
  EXPECT_THAT(coordinator.ReadErrors(), HasSubstr("error[FL-3010]: "));
  EXPECT_EQ(coordinator.Wait(), kExitFailure);
}

TEST(CoordinatorMainTest, RefusesABusyPortInOneLine) {
  Process first({"--ephemeral", "--listen", "127.0.0.1:0"});
  const std::string line = first.ReadLine();
  const std::string address = line.substr(line.rfind(' ') + 1);
  Process second({"--ephemeral", "--listen", address});
  ExpectError(second.ReadErrors(), "error[FL-4001]: ");
  EXPECT_EQ(second.Wait(), kExitConflict);
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait(), kExitOk);  // unharmed
}

TEST(CoordinatorMainTest, RefusesASecondCoordinatorOnOneFolder) {
  TempFolder folder;
  const std::string data = folder.File("frost");
  Process first({"--data", data, "--listen", "127.0.0.1:0"});
  EXPECT_THAT(first.ReadLine(), StartsWith("listening on "));
  Process second({"--data", data, "--listen", "127.0.0.1:0"});
  ExpectError(second.ReadErrors(), "error[FL-3001]: ");
  EXPECT_EQ(second.Wait(), kExitConflict);
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait(), kExitOk);
}

TEST(CoordinatorMainTest, RefusesAFolderItCannotWrite) {
  // A file stands where the folder should be: that stops root, too.
  TempFolder folder;
  const std::string file = folder.File("file");
  close(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  Process coordinator({"--data", file + "/frost"});
  ExpectError(coordinator.ReadErrors(), "error[FL-3002]: ");
  EXPECT_EQ(coordinator.Wait(), kExitFailure);
}

TEST(CoordinatorMainTest, RefusesToServeOtherMachinesWithoutTls) {
  Process coordinator({"--ephemeral", "--listen", "0.0.0.0:0"});
  ExpectError(coordinator.ReadErrors(), "error[FL-4002]: ");
  EXPECT_EQ(coordinator.Wait(), kExitUsage);
}

TEST(CoordinatorMainTest, RefusesAnUnknownOption) {
  Process coordinator({"--ephemeral", "--prot", "7070"});
  ExpectError(coordinator.ReadErrors(), "error[FL-1016]: ");
  EXPECT_EQ(coordinator.Wait(), kExitUsage);
}

TEST(CoordinatorMainTest, PrintsItsVersion) {
  Process coordinator({"--version"});
  EXPECT_THAT(coordinator.ReadLine(),
              MatchesRegex("frostline-coordinator [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(coordinator.Wait(), kExitOk);
}

}  // namespace
}  // namespace frostline::server
