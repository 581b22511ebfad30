// SPDX-License-Identifier: Apache-2.0
//
// Processes that die of SIGQUIT, where the shell would allow any core.
#include "base/secret.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <type_traits>

#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

struct End {
  int signal = 0;
  bool dumped = false;
};

// `prepare` runs in the child.
template <typename Prepare>
End DieOfQuit(const TempFolder& folder, const Prepare& prepare) {
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    if (chdir(folder.path().c_str()) != 0) _exit(1);
    prepare();
    std::signal(SIGQUIT, SIG_DFL);
    std::raise(SIGQUIT);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          WIFSIGNALED(status) && WCOREDUMP(status)};
}

TEST(CoreDumps, AreForbidden) {
  const TempFolder folder;
  const End end = DieOfQuit(folder, ForbidCoreDumps);
  EXPECT_EQ(end.signal, SIGQUIT);
  EXPECT_FALSE(end.dumped);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// It also shows that the test above can fail.
TEST(CoreDumps, AreThereForWhoAsks) {
  const TempFolder folder;
  if (!DieOfQuit(folder, [] {}).dumped) {
    GTEST_SKIP() << "no process dumps core on this machine";
  }
  EXPECT_TRUE(DieOfQuit(folder, [] {
                setenv("FROSTLINE_CORE_DUMPS", "1", 1);
                ForbidCoreDumps();
              }).dumped);
  EXPECT_FALSE(DieOfQuit(folder, [] {
                 setenv("FROSTLINE_CORE_DUMPS", "0", 1);
                 ForbidCoreDumps();
               }).dumped);
}

// A trainer that crashes leaves what its developer needs.
TEST(CoreDumps, AreLeftToProgramsThatAreStarted) {
  const TempFolder folder;
  const auto start_shell = [] {
    execlp("sh", "sh", "-c", "kill -QUIT $$", nullptr);
  };
  if (!DieOfQuit(folder, start_shell).dumped) {
    GTEST_SKIP() << "no process dumps core on this machine";
  }
  EXPECT_TRUE(DieOfQuit(folder, [&start_shell] {
                ForbidCoreDumps();
                start_shell();
              }).dumped);
}

TEST(Secret, ComparesByContent) {
  EXPECT_TRUE(SecretString("abc") == SecretString("abc"));
  EXPECT_FALSE(SecretString("abc") == SecretString("abd"));
  EXPECT_FALSE(SecretString("abc") == SecretString("abcd"));
  EXPECT_TRUE(SecretString().empty());
}

template <typename T>
concept Printable = requires(std::ostream& out, T value) { out << value; };

TEST(Secret, CannotBePrintedOrConverted) {
  EXPECT_FALSE(Printable<SecretString>);
  EXPECT_FALSE((std::is_convertible_v<SecretString, std::string>));
}

}  // namespace
}  // namespace frostline
