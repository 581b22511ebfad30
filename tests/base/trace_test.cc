// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

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
