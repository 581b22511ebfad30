// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <poll.h>
#include <pty.h>
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
#include <ostream>
#include <thread>
#include <type_traits>

#include "base/metrics.h"
#include "base/secret.h"
#include "base/terminal_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Log, WritesKeyValuePairs) {
  EXPECT_EQ(FormatLogLine(LogLevel::kInfo, "lease_granted",
                          {{"trial", "studies/a/trials/7"}, {"attempt", "2"}}),
            "info lease_granted trial=studies/a/trials/7 attempt=2");
}

TEST(Log, AHostileValueCannotForgeALine) {
  const std::string line = FormatLogLine(LogLevel::kWarning, "x",
                                         {{"study", "a\n2026 error forged=1"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(line.find('"'), std::string::npos);
}

constexpr WallMicros kNow = 1'795'327'654'123'456;

TEST(LogFormat, WritesAJsonObjectALine) {
  EXPECT_EQ(FormatJsonLogLine(kNow, LogLevel::kInfo, "lease_granted",
                              {{"trial", "studies/a/trials/7"}}, {}),
            "{\"time\":\"2026-11-22T06:07:34.123456Z\",\"level\":\"info\","
            "\"event\":\"lease_granted\",\"trial\":\"studies/a/trials/7\"}");
}

TEST(LogFormat, NamesTheTraceAndItsSpan) {
  const TraceContext trace{.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
                           .span_id = "00f067aa0ba902b7"};
  EXPECT_THAT(
      FormatJsonLogLine(kNow, LogLevel::kInfo, "x", {}, trace),
      ::testing::HasSubstr("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\","
                           "\"span_id\":\"00f067aa0ba902b7\""));
}

TEST(LogFormat, AHostileValueForgesNeitherLineNorKey) {
  const std::string line = FormatJsonLogLine(
      kNow, LogLevel::kInfo, "x",
      {{"study", "a\"}\n{\"b\":\"\xff"}, {"level", "error"}}, {});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_THAT(line, ::testing::HasSubstr(
                        "\"study\":\"a\\\"}\\u000a{\\\"b\\\":\\\"\uFFFD\""));
  EXPECT_THAT(line, ::testing::HasSubstr("\"field_level\":\"error\""));
}

// What Log() writes to standard error.
std::string Logged(const char* event) {
  ::testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, event);
  return ::testing::internal::GetCapturedStderr();
}

TEST(LogFormat, LinesOfAScopeCarryItsTrace) {
  const TraceContext outer = NewTrace();
  const TraceContext inner = NewTrace();
  const LogTraceScope around(outer);
  {
    const LogTraceScope within(inner);
    EXPECT_THAT(Logged("x"), ::testing::EndsWith(
                                 " info x trace_id=" + inner.trace_id + "\n"));
  }
  EXPECT_THAT(Logged("x"), ::testing::HasSubstr(outer.trace_id));
  SetLogFormat(LogFormat::kJson);
  EXPECT_THAT(Logged("x"), ::testing::StartsWith("{\"time\":\""));
  SetLogFormat(LogFormat::kText);
}

constexpr char kExample[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceTest, ReadsWhatTheStandardShows) {
  const TraceContext trace = ParseTraceparent(kExample);
  EXPECT_EQ(trace.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace.span_id, "00f067aa0ba902b7");
  EXPECT_TRUE(trace.is_sampled);
  EXPECT_EQ(FormatTraceparent(trace), kExample);
}

TEST(TraceTest, ReadsTheKnownPartsOfALaterVersion) {
  const std::string later = std::string("cc") + (kExample + 2) + "-what-else";
  EXPECT_EQ(ParseTraceparent(later).span_id, "00f067aa0ba902b7");
}

class BadTraceTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BadTraceTest, IsNone) {
  EXPECT_TRUE(ParseTraceparent(GetParam()).empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTraceTest,
    ::testing::Values(
        "", "00", "nonsense",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01"));

TEST(TraceTest, MakesTracesThatItCanRead) {
  const TraceContext made = NewTrace();
  EXPECT_EQ(ParseTraceparent(FormatTraceparent(made)).trace_id, made.trace_id);
  EXPECT_NE(NewTrace().trace_id, made.trace_id);
}

TEST(TraceTest, KeepsTheTraceInAChild) {
  const TraceContext made = NewTrace();
  const TraceContext child = ChildOf(made);
  EXPECT_EQ(child.trace_id, made.trace_id);
  EXPECT_NE(child.span_id, made.span_id);
}

constexpr std::array kBounds = {1.0, 10.0};

TEST(MetricsTest, CountsAValueInTheFirstBucketThatHoldsIt) {
  Histogram histogram(kBounds);
  for (const double value : {0.5, 1.0, 7.0, 70.0}) histogram.Observe(value);
  EXPECT_THAT(histogram.Counts(), ElementsAre(2, 1, 1));
  EXPECT_EQ(histogram.Count(), 4);
  EXPECT_DOUBLE_EQ(histogram.Sum(), 78.5);
}

TEST(MetricsTest, ObservesTimesInSeconds) {
  Histogram histogram(kBounds);
  histogram.Observe(std::chrono::milliseconds(2500));
  EXPECT_THAT(histogram.Counts(), ElementsAre(0, 1, 0));
  EXPECT_DOUBLE_EQ(histogram.Sum(), 2.5);
}

TEST(MetricsTest, LosesNothingThatThreadsCountAtATime) {
  Counter counter;
  Histogram histogram(kBounds);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        counter.Add();
        histogram.Observe(2.0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 40'000);
  EXPECT_THAT(histogram.Counts(), ElementsAre(0, 40'000, 0));
}

// Processes that die of SIGQUIT, where the shell would allow any core.

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

// Given a person at a terminal, which a pseudo-terminal is.
class TerminalLogTest : public ::testing::Test {
 protected:
  TerminalLogTest() : before_(dup(STDERR_FILENO)) {
    int slave = -1;
    EXPECT_EQ(openpty(&master_, &slave, nullptr, nullptr, nullptr), 0);
    dup2(slave, STDERR_FILENO);
    close(slave);
  }
  ~TerminalLogTest() override {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(master_);
  }
  // What came up to `last`: the kernel brings it in pieces, when it has time.
  std::string Seen(const std::string& last) const {
    std::string seen;
    pollfd waiting = {.fd = master_, .events = POLLIN, .revents = 0};
    while (seen.find(last) == std::string::npos &&
           poll(&waiting, 1, /*timeout_ms=*/10'000) > 0) {
      std::array<char, 4096> text{};
      const ssize_t size = read(master_, text.data(), text.size());
      if (size <= 0) break;
      seen.append(text.data(), static_cast<std::size_t>(size));
    }
    return seen;
  }

  TempFolder folder_;
  int before_;
  int master_ = -1;
};

TEST_F(TerminalLogTest, APersonSeesWhatIsSaidAndErrorsAndTheFileHasAll) {
  const std::string path = folder_.File("a.log");
  {
    const TerminalLog log(path, true);
    EXPECT_TRUE(log.is_on());
    Log(LogLevel::kInfo, "trial_started");
    Log(LogLevel::kError, "denied", {{"cause", "no token"}});
    SayOnTerminal("ready");
  }
  Log(LogLevel::kInfo, "after");
  const std::string seen = Seen("after");
  EXPECT_THAT(seen, AllOf(HasSubstr("denied"), HasSubstr("ready"),
                          HasSubstr("after"), Not(HasSubstr("_started"))));
  std::ifstream file(path);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(kept, AllOf(HasSubstr("trial_started"), HasSubstr("denied"),
                          Not(HasSubstr("after"))));
}

TEST_F(TerminalLogTest, WhoAsksForTheLogGetsItWhereItWas) {
  const std::array<const char*, 2> asks = {"x", "--log-level=debug"};
  EXPECT_TRUE(GivesLogFlag(2, asks.data()));
  EXPECT_FALSE(GivesLogFlag(1, asks.data()));
  const TerminalLog log(folder_.File("a.log"), false);
  Log(LogLevel::kInfo, "trial_started");
  EXPECT_THAT(Seen("trial_started"), HasSubstr("trial_started"));
}

}  // namespace
}  // namespace frostline
