// SPDX-License-Identifier: Apache-2.0
//
// File: child_process.h
//
// Part of a test in a process of its own, which may then be limited or killed
// without harm to the others.
#ifndef FROSTLINE_TESTS_STORAGE_CHILD_PROCESS_H_
#define FROSTLINE_TESTS_STORAGE_CHILD_PROCESS_H_

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"

namespace frostline::storage {

// REQUIRES: this process has one thread and no store open.
inline pid_t StartChild(absl::FunctionRef<void()> body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  body();
  std::fflush(nullptr);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

// The child's exit code; its failed expectations are printed by itself.
inline int RunInChild(absl::FunctionRef<void()> body) {
  int status = 0;
  waitpid(StartChild(body), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace frostline::storage

#endif  // FROSTLINE_TESTS_STORAGE_CHILD_PROCESS_H_
