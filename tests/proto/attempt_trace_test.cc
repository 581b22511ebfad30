// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "proto/wire_values.h"

namespace frostline::proto {
namespace {

v1::LeaseRef Lease(const std::string& trial, std::int64_t attempt,
                   const std::string& secret) {
  v1::LeaseRef lease;
  lease.set_trial(trial);
  lease.set_attempt(attempt);
  lease.set_secret(secret);
  return lease;
}

TEST(AttemptTraceTest, IsOneForAnAttemptAndAnotherForEveryOther) {
  const TraceContext trace =
      TraceOfAttempt(Lease("studies/a/trials/1", 1, "s"));
  const auto same = [&trace](const v1::LeaseRef& lease) {
    return TraceOfAttempt(lease).trace_id == trace.trace_id;
  };
  EXPECT_TRUE(same(Lease("studies/a/trials/1", 1, "s")));
  EXPECT_FALSE(same(Lease("studies/a/trials/2", 1, "s")));
  EXPECT_FALSE(same(Lease("studies/a/trials/1", 2, "s")));
  EXPECT_FALSE(same(Lease("studies/a/trials/1", 1, "other")));
}

TEST(AttemptTraceTest, IsATraceThatOthersCanRead) {
  const TraceContext trace =
      TraceOfAttempt(Lease("studies/a/trials/1", 1, "s"));
  const TraceContext read = ParseTraceparent(FormatTraceparent(trace));
  EXPECT_EQ(read.trace_id, trace.trace_id);
  EXPECT_EQ(read.span_id, trace.span_id);
}

}  // namespace
}  // namespace frostline::proto
