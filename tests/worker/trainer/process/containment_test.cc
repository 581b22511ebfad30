// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/containment.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What contained code can do, by doing it.

// The error of a call that gives -1; 0: it did it.
int ErrorOf(long result) { return result == -1 ? errno : 0; }

int ErrorOfOpening(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

class Containment : public ::testing::Test {
 protected:
  Containment() {
    for (const char* name : {"inside", "outside", "tmp"}) {
      mkdir(folder_.File(name).c_str(), 0700);
    }
    WriteBytes(folder_.File("outside/there"), "theirs");
  }

  // Runs `body` in a contained process of its own; nothing else of this one is.
  // Returns what it returned, or "skip" where the kernel has no Landlock.
  std::string Contained(const std::function<int()>& body) const {
    const pid_t child = fork();
    if (child == 0) {
      setenv("TMPDIR", folder_.File("tmp").c_str(), 1);
      const std::string said = Contain({folder_.File("inside")});
      WriteBytes(folder_.File("inside/said"), said);
      _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    said_ = ReadBytes(folder_.File("inside/said"));
    if (said_.find("may ") != std::string::npos) return "skip";
    return WIFEXITED(status) ? std::to_string(WEXITSTATUS(status))
                             : "signal " + std::to_string(WTERMSIG(status));
  }

  TempFolder folder_;
  mutable std::string said_;
};

#define EXPECT_IN_CONTAINED(expected, ...)                           \
  do {                                                               \
    const std::string seen = Contained([&] { return __VA_ARGS__; }); \
    if (seen == "skip") GTEST_SKIP() << said_;                       \
    EXPECT_EQ(seen, std::to_string(expected)) << #__VA_ARGS__;       \
  } while (false)

TEST_F(Containment, SaysWhatIsTaken) {
  EXPECT_IN_CONTAINED(0, 0);
  EXPECT_EQ(said_, "contained: writes beneath " + folder_.File("inside") +
                       "; starts no programs, reaches no network");
}

TEST_F(Containment, FilesAreWrittenWhereTheyMayAndNowhereElse) {
  const std::string in = folder_.File("inside/new");
  const std::string there = folder_.File("outside/there");
  constexpr int kNew = O_WRONLY | O_CREAT;
  EXPECT_IN_CONTAINED(0, ErrorOfOpening(in, kNew));
  EXPECT_IN_CONTAINED(0, ErrorOfOpening(folder_.File("tmp/new"), kNew));
  EXPECT_IN_CONTAINED(0, ErrorOfOpening("/dev/null", O_WRONLY | O_TRUNC));
  EXPECT_IN_CONTAINED(0, ErrorOfOpening(there, O_RDONLY));
  EXPECT_IN_CONTAINED(0, ErrorOf(rename(in.c_str(), (in + "2").c_str())));
  EXPECT_IN_CONTAINED(EACCES, ErrorOfOpening(there, O_WRONLY));
  EXPECT_IN_CONTAINED(EACCES, ErrorOfOpening(there, O_RDWR | O_TRUNC));
  EXPECT_IN_CONTAINED(EACCES,
                      ErrorOfOpening(folder_.File("outside/new"), kNew));
  EXPECT_IN_CONTAINED(EACCES, ErrorOf(truncate(there.c_str(), 0)));
  EXPECT_IN_CONTAINED(EACCES, ErrorOf(unlink(there.c_str())));
  EXPECT_IN_CONTAINED(EACCES, ErrorOf(mkdir((there + "s").c_str(), 0700)));
  EXPECT_IN_CONTAINED(
      EACCES, symlink(there.c_str(), folder_.File("inside/link").c_str()) == 0
                  ? ErrorOfOpening(folder_.File("inside/link"), O_WRONLY)
                  : -1);
  EXPECT_EQ(ReadBytes(there), "theirs");
}

TEST_F(Containment, NoFileGoesToAnotherFolder) {
  const std::string in = folder_.File("inside/mine");
  const std::string out = folder_.File("outside/mine");
  WriteBytes(in, "mine");
  EXPECT_IN_CONTAINED(1, ErrorOf(rename(in.c_str(), out.c_str())) != 0 ? 1 : 0);
  EXPECT_IN_CONTAINED(1, ErrorOf(link(in.c_str(), out.c_str())) != 0 ? 1 : 0);
  EXPECT_EQ(ReadBytes(in), "mine");
}

TEST_F(Containment, NoProgramStarts) {
  const auto start = [] {
    execl("/bin/true", "true", nullptr);
    return errno;
  };
  EXPECT_IN_CONTAINED(EPERM, start());
  EXPECT_IN_CONTAINED(1, std::system("true") == 0 ? 0 : 1);
}

TEST_F(Containment, NoNetworkIsReached) {
  const auto error_of = [](int family, int type) {
    return ErrorOf(socket(family, type, 0));
  };
  EXPECT_IN_CONTAINED(EAFNOSUPPORT, error_of(AF_INET, SOCK_STREAM));
  EXPECT_IN_CONTAINED(EAFNOSUPPORT, error_of(AF_INET, SOCK_DGRAM));
  EXPECT_IN_CONTAINED(EAFNOSUPPORT, error_of(AF_INET6, SOCK_STREAM));
  EXPECT_IN_CONTAINED(0, error_of(AF_UNIX, SOCK_STREAM));
}

TEST_F(Containment, OtherProcessesAreLeftAlone) {
  const pid_t other = getpid();
  EXPECT_IN_CONTAINED(EPERM, ErrorOf(kill(other, SIGCONT)));
  EXPECT_IN_CONTAINED(EPERM, ErrorOf(ptrace(PTRACE_TRACEME, 0, 0, 0)));
  EXPECT_IN_CONTAINED(0, ErrorOf(kill(getpid(), 0)));
}

TEST_F(Containment, NoPrivilegesAndNoCoreDumps) {
  const auto no_core = [] {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    return limit.rlim_max == 0 ? 0 : 1;
  };
  EXPECT_IN_CONTAINED(0, no_core());
  EXPECT_IN_CONTAINED(1, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

// As those of a GPU's driver are.
TEST_F(Containment, ThreadsThatWereThereStartNoProgramsEither) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<bool> contained = false;
    std::atomic<int> error = 0;
    std::thread early([&] {
      while (!contained) std::this_thread::yield();
      execl("/bin/true", "true", nullptr);
      error = errno;
    });
    Contain({folder_.File("inside")});
    contained = true;
    early.join();
    _exit(error == EPERM ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Containment, AFolderThatIsMissingIsMade) {
  const pid_t child = fork();
  if (child == 0) {
    Contain({folder_.File("a/b")});
    _exit(ErrorOfOpening(folder_.File("a/b/new"), O_WRONLY | O_CREAT));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The real trainer, by its option and by the agent's variable.
TEST(ContainedTrainer, TrainsInItsFolderAndNowhereElse) {
  SmallWorld world;
  world.Write();
  const TempFolder runs;
  const std::string tmp = "TMPDIR=" + runs.File("tmp");
  mkdir(runs.File("tmp").c_str(), 0700);
  const auto finish_of = [&](const std::string& folder, TrainerStart start) {
    start.environment.push_back(tmp);
    TrainerUnderTest trainer(world.registry(), start);
    nlohmann::json trial = world.Trial();
    mkdir(folder.c_str(), 0700);
    trial["folder"] = folder;
    trial["training"]["extra"]["export"] = true;
    const nlohmann::json finish = trainer.Train(trial).finish;
    return std::pair(finish["state"].get<std::string>(), trainer.Errors());
  };
  TrainerStart by_option;
  by_option.arguments = {"--write-dir", runs.File("own")};
  const auto [state, log] = finish_of(runs.File("own"), by_option);
  EXPECT_EQ(state, "succeeded");
  if (log.find("may write everywhere") != std::string::npos)
    GTEST_SKIP() << log;
  EXPECT_THAT(log, HasSubstr("contained: writes beneath " + runs.File("own")));
  TrainerStart by_agent;
  by_agent.environment = {"FROSTLINE_WRITE_DIR=" + runs.File("own")};
  const auto [elsewhere, why] = finish_of(runs.File("other"), by_agent);
  EXPECT_EQ(elsewhere, "failed") << why;
  TrainerStart off = by_agent;
  off.arguments = {"--write-dir", "off"};
  const auto [free, said] = finish_of(runs.File("third"), off);
  EXPECT_EQ(free, "succeeded");
  EXPECT_THAT(said, Not(HasSubstr("contained")));
}

}  // namespace
}  // namespace frostline::trainer
