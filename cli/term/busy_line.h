// SPDX-License-Identifier: Apache-2.0
//
// File: busy_line.h
#ifndef FROSTLINE_CLI_TERM_BUSY_LINE_H_
#define FROSTLINE_CLI_TERM_BUSY_LINE_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// Says on standard error that a call is under way, "importance … 12 s", from
// two seconds on; off a terminal it says nothing. One of these lives around the
// call and nothing else is written meanwhile.
class BusyLine {
 public:
  BusyLine(const Terminal& terminal, std::string what,
           Duration quiet = std::chrono::seconds(2));
  // Takes the line away.
  ~BusyLine();
  BusyLine(const BusyLine&) = delete;
  BusyLine& operator=(const BusyLine&) = delete;

 private:
  void Run();

  const std::string what_;
  const Duration quiet_;
  StatusLine line_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_BUSY_LINE_H_
