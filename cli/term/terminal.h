// SPDX-License-Identifier: Apache-2.0
//
// File: terminal.h
//
// The terminal. Output that does not go to a terminal has no colour, is not cut
// and not animated.
#ifndef FROSTLINE_CLI_TERM_TERMINAL_H_
#define FROSTLINE_CLI_TERM_TERMINAL_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/secret.h"

namespace frostline::cli {

// What is known about the outputs of the program.
struct Terminal {
  bool out_is_tty = false;
  bool err_is_tty = false;
  bool color = false;
  int width = 0;       // columns of standard output; 0: not a terminal
  int height = 0;      // its lines
  bool pages = false;  // longer output goes through a pager
};

// Finds out what standard output is. It pages unless the terminal is "dumb".
// Colour needs both outputs on a terminal that is not "dumb", and neither
// NO_COLOR nor `no_color`.
Terminal DetectTerminal(bool no_color);

// Returns the text in an SGR style ("1" bold, "31" red, "2" dim), or plain text
// without colour.
std::string Paint(const Terminal& terminal, const char* style,
                  const std::string& text);

// Quotes the text as one word for a shell.
std::string ShellWord(const std::string& text);

// A line on standard error that is written again and again. It writes nothing
// when that is not a terminal.
class StatusLine {
 public:
  explicit StatusLine(const Terminal& terminal) : terminal_(terminal) {}
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(const std::string& text);
  int width() const { return terminal_.width; }
  // Removes the line. Call it before anything else is written.
  void Clear();

 private:
  const Terminal& terminal_;
  bool shown_ = false;
};

// A line on standard error which says that a call is under way: "importance …
// 12 s". It appears after two seconds, and only on a terminal. Create it around
// the call, and write nothing else meanwhile.
class BusyLine {
 public:
  BusyLine(const Terminal& terminal, std::string what,
           Duration quiet = std::chrono::seconds(2));
  // Removes the line.
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
  bool is_over_ = false;  // guarded by mutex_
  std::thread thread_;
};

// Prints text to standard output. If it is taller than the terminal, it goes
// through $FROSTLINE_PAGER, else $PAGER, else `less -FRX` if it exists. An
// empty variable turns paging off, and so does Terminal::pages = false. Leaving
// the pager early is not a failure.
void PrintPaged(const Terminal& terminal, const std::string& text);

// Returns the command of the pager, or "" for none.
std::string PagerCommand();

// Reads a line from standard input, without its end. On a terminal it prints
// `prompt` on standard error and hides the typing; Ctrl-C then returns
// CANCELLED and restores the terminal. An empty line, or one longer than a
// kilobyte, is REQUEST_INVALID.
absl::StatusOr<SecretString> ReadSecret(const std::string& prompt);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TERMINAL_H_
