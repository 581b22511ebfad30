// SPDX-License-Identifier: Apache-2.0
//
// File: status_matchers.h
//
// Matchers for absl::Status and absl::StatusOr.
//
//   ASSERT_OK_AND_ASSIGN(Space space, builder.Build());
//   EXPECT_OK(store->Commit());
//   EXPECT_THAT(Parse("x"), FailsWith(ErrorId::kNameInvalid));
#ifndef FROSTLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define FROSTLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <ostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "gmock/gmock.h"

namespace frostline {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  if (!StatusOf(arg).ok()) *result_listener << DescribeError(StatusOf(arg));
  return StatusOf(arg).ok();
}

MATCHER_P(FailsWith, id, "fails with " + ErrorCode(id)) {
  *result_listener << (StatusOf(arg).ok() ? "OK"
                                          : DescribeError(StatusOf(arg)));
  return HasErrorId(StatusOf(arg), id);
}

// Like FailsWith, and the error must name this field.
MATCHER_P2(FailsAt, id, field, "fails with " + ErrorCode(id) + " at " + field) {
  *result_listener << (StatusOf(arg).ok() ? "OK"
                                          : DescribeError(StatusOf(arg)));
  const auto detail = DetailOf(StatusOf(arg));
  if (detail.has_value()) *result_listener << " at " << detail->field;
  return HasErrorId(StatusOf(arg), id) && detail->field == field;
}

}  // namespace frostline

#define EXPECT_OK(expression) EXPECT_THAT(expression, ::frostline::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT(expression, ::frostline::IsOk())

#define FROSTLINE_TEST_CONCAT_INNER_(a, b) a##b
#define FROSTLINE_TEST_CONCAT_(a, b) FROSTLINE_TEST_CONCAT_INNER_(a, b)
#define ASSERT_OK_AND_ASSIGN(target, expression)                       \
  ASSERT_OK_AND_ASSIGN_(FROSTLINE_TEST_CONCAT_(or_, __LINE__), target, \
                        expression)
#define ASSERT_OK_AND_ASSIGN_(holder, target, expression) \
  auto holder = (expression);                             \
  ASSERT_THAT(holder, ::frostline::IsOk());               \
  target = std::move(holder).value()

#endif  // FROSTLINE_TESTS_SUPPORT_STATUS_MATCHERS_H_
