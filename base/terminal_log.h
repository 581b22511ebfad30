// SPDX-License-Identifier: Apache-2.0
//
// File: terminal_log.h
//
// Keeps the log off the terminal of a person. Standard error then goes to a
// file, and the terminal gets only what a person must know: what is said here,
// and errors of the log in a few words. Off a terminal nothing changes.
//
//   const TerminalLog log("runs/worker.log", /*is_wanted=*/true);
//   SayOnTerminal("worker gpu03 is ready");
#ifndef FROSTLINE_BASE_TERMINAL_LOG_H_
#define FROSTLINE_BASE_TERMINAL_LOG_H_

#include <string>

namespace frostline {

// While it lives, standard error is the file. One at a time; made before other
// threads begin. A file that cannot be opened leaves all as it is.
class TerminalLog {
 public:
  // Makes the file's folder, if its parent is there. `is_wanted` is false where
  // somebody asked for the log itself.
  TerminalLog(const std::string& path, bool is_wanted);
  // Standard error is the terminal again.
  ~TerminalLog();
  TerminalLog(const TerminalLog&) = delete;
  TerminalLog& operator=(const TerminalLog&) = delete;

  bool is_on() const { return terminal_ >= 0; }

 private:
  int terminal_ = -1;
};

// Says whether a command line has a flag about the log, --log-level or
// --log-format: then it is wanted where it always was.
bool GivesLogFlag(int argc, const char* const* argv);

// Writes a line to the terminal if the log goes to a file. Any thread may call
// it.
void SayOnTerminal(const std::string& line);

}  // namespace frostline

#endif  // FROSTLINE_BASE_TERMINAL_LOG_H_
