// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline {
namespace {

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

}  // namespace
}  // namespace frostline
