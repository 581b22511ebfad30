// SPDX-License-Identifier: Apache-2.0
//
// File: terminal.h
//
// Off a terminal nothing is coloured, cut or animated.
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

struct Terminal {
  bool out_is_tty = false;
  bool err_is_tty = false;
  bool color = false;
  int width = 0;       // columns of standard output; 0: not a terminal
  int height = 0;      // its lines
  bool pages = false;  // what is taller goes through a pager
};

// It pages where it is not "dumb". Colour needs both outputs on a terminal that
// is not "dumb", and neither NO_COLOR nor `no_color`.
Terminal DetectTerminal(bool no_color);

// Uses an SGR style ("1" bold, "31" red, "2" dim) where there is colour.
std::string Paint(const Terminal& terminal, const char* style,
                  const std::string& text);

// Makes one word for a shell, whatever is in the text.
std::string ShellWord(const std::string& text);

// Writes one line on standard error again and again, never off a terminal.
class StatusLine {
 public:
  explicit StatusLine(const Terminal& terminal) : terminal_(terminal) {}
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(const std::string& text);
  int width() const { return terminal_.width; }
  // Call it before anything else is written.
  void Clear();

 private:
  const Terminal& terminal_;
  bool shown_ = false;
};

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

// Writes to standard output; what is taller than the terminal goes through
// $FROSTLINE_PAGER, else $PAGER, else `less -FRX` where there is one. An empty
// variable, or Terminal::pages, turns that off. Who leaves the pager early has
// seen enough: that is no failure.
void PrintPaged(const Terminal& terminal, const std::string& text);

// "" for none.
std::string PagerCommand();

// Reads a line of standard input, without its end. On a terminal it asks with
// `prompt`, on standard error, and shows nothing of what is typed; Ctrl-C is
// CANCELLED then, and the terminal as it was. What is empty, or longer than a
// kilobyte, is REQUEST_INVALID.
absl::StatusOr<SecretString> ReadSecret(const std::string& prompt);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TERMINAL_H_
