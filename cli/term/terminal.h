// SPDX-License-Identifier: Apache-2.0
//
// File: terminal.h
//
// Off a terminal nothing is coloured, cut or animated.
#ifndef FROSTLINE_CLI_TERM_TERMINAL_H_
#define FROSTLINE_CLI_TERM_TERMINAL_H_

#include <string>

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TERMINAL_H_
