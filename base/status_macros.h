// SPDX-License-Identifier: Apache-2.0
//
// File: status_macros.h
//
//   ASSIGN_OR_RETURN(StudyRow study, store.FindStudy(name));
//   RETURN_IF_ERROR(transaction.Commit());
#ifndef FROSTLINE_BASE_STATUS_MACROS_H_
#define FROSTLINE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// __LINE__ would clash in a lambda that uses them too.
#define RETURN_IF_ERROR(expression)                                   \
  FROSTLINE_RETURN_IF_ERROR_(FROSTLINE_CONCAT_(status_, __COUNTER__), \
                             expression)

#define FROSTLINE_RETURN_IF_ERROR_(holder, expression) \
  do {                                                 \
    absl::Status holder = (expression);                \
    if (!holder.ok()) return holder;                   \
  } while (false)

#define FROSTLINE_CONCAT_INNER_(a, b) a##b
#define FROSTLINE_CONCAT_(a, b) FROSTLINE_CONCAT_INNER_(a, b)

#define ASSIGN_OR_RETURN(target, expression)                               \
  FROSTLINE_ASSIGN_OR_RETURN_(FROSTLINE_CONCAT_(or_, __COUNTER__), target, \
                              expression)

#define FROSTLINE_ASSIGN_OR_RETURN_(holder, target, expression) \
  auto holder = (expression);                                   \
  if (!holder.ok()) return std::move(holder).status();          \
  target = std::move(holder).value()

#endif  // FROSTLINE_BASE_STATUS_MACROS_H_
