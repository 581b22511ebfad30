// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "gmock/gmock.h"

namespace frostline {
namespace {

// What a program writes before it closes its output, and its end.
struct Told {
  std::string text;
  int code = -1;
};

Told RunToEnd(ProcessStart start) {
  Pipe out;
  EXPECT_TRUE(out.ok());
  start.out = out.write.number();
  start.err = out.write.number();
  const pid_t pid = StartProcess(start);
  EXPECT_GT(pid, 0);
  out.write.Close();
  Told told;
  std::array<char, 4096> part{};
  for (ssize_t n;
       (n = read(out.read.number(), part.data(), part.size())) > 0;) {
    told.text.append(part.data(), static_cast<std::size_t>(n));
  }
  told.code = ShellCodeOf(WaitForEnd(pid));
  return told;
}

Told Shell(const std::string& script) {
  return RunToEnd({{"sh", "-c", script}});
}

TEST(StartProcess, GivesTheWordsAsTheyAre) {
  EXPECT_EQ(RunToEnd({{"printf", "%s|", "a b", "$HOME", "*"}}).text,
            "a b|$HOME|*|");
}

TEST(StartProcess, GivesOurEnvironmentOrAnother) {
  setenv("FROSTLINE_OF_OURS", "1", 1);
  EXPECT_EQ(Shell("echo $FROSTLINE_OF_OURS").text, "1\n");
  const Told told =
      RunToEnd({.words = {"sh", "-c", "echo $A$FROSTLINE_OF_OURS"},
                .variables = {{"A=2"}}});
  EXPECT_EQ(told.text, "2\n");
}

TEST(StartProcess, TakesInputFromADescriptor) {
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(RunToEnd({.words = {"cat"}, .in = nothing.number()}).text, "");
}

TEST(StartProcess, LeadsAGroupOnlyWhenAsked) {
  const std::string script = "set -- $(cat /proc/$$/stat); echo $(($5 == $1))";
  EXPECT_EQ(Shell(script).text, "0\n");
  EXPECT_EQ(RunToEnd({.words = {"sh", "-c", script}, .leads_group = true}).text,
            "1\n");
}

TEST(StartProcess, PassesOnNoOtherDescriptor) {
  const int left = fcntl(STDIN_FILENO, F_DUPFD, 50);
  ASSERT_GE(left, 50);
  const std::string it = "/proc/$$/fd/" + std::to_string(left);
  EXPECT_EQ(Shell("test -e " + it + " || echo none").text, "none\n");
  close(left);
}

TEST(StartProcess, PassesOnNoBlockedNorIgnoredSignal) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto pipe = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(Shell("kill -TERM $$; echo lives").code, 128 + SIGTERM);
  EXPECT_EQ(Shell("kill -PIPE $$; echo lives").code, 128 + SIGPIPE);
  std::signal(SIGPIPE, pipe);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(StartProcess, SaysWhyNothingRuns) {
  EXPECT_LT(StartProcess({{"frostline-no-such-program"}}), 0);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_LT(StartProcess({{"/"}}), 0);
  EXPECT_EQ(errno, EACCES);
}

TEST(ShellCodeOf, IsThatOfAShell) {
  EXPECT_EQ(Shell("exit 3").code, 3);
  EXPECT_EQ(Shell("kill -KILL $$").code, 137);
}

TEST(Pipe, KeepsOneEndAndClosesTheOther) {
  int kept = -1;
  int closed = -1;
  {
    Pipe pipe;
    ASSERT_TRUE(pipe.ok());
    EXPECT_EQ(fcntl(pipe.read.number(), F_GETFD), FD_CLOEXEC);
    closed = pipe.write.number();
    kept = pipe.read.Release();
  }
  EXPECT_EQ(fcntl(closed, F_GETFD), -1);
  EXPECT_EQ(close(kept), 0);
}

}  // namespace
}  // namespace frostline
