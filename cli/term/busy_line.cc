// SPDX-License-Identifier: Apache-2.0
#include "cli/term/busy_line.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace frostline::cli {

BusyLine::BusyLine(const Terminal& terminal, std::string what, Duration quiet)
    : what_(std::move(what)), quiet_(quiet), line_(terminal) {
  if (terminal.err_is_tty) thread_ = std::thread([this] { Run(); });
}

BusyLine::~BusyLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void BusyLine::Run() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  auto next = begin + quiet_;
  while (!ended_.wait_until(lock, next, [this] { return is_over_; })) {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - begin);
    line_.Show(absl::StrCat(what_, " … ", passed.count(), " s"));
    next += std::chrono::seconds(1);
  }
}

}  // namespace frostline::cli
