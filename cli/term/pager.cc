// SPDX-License-Identifier: Apache-2.0
#include "cli/term/pager.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace frostline::cli {
namespace {

constexpr char kUsualPager[] =
    "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
// Of `sh` for a command that is not there.
constexpr int kNotFound = 127;

// Ctrl-C is the pager's while it runs, and a pipe that it closed is no failure.
class SignalsHeldOff {
 public:
  SignalsHeldOff()
      : interrupt_(std::signal(SIGINT, SIG_IGN)),
        pipe_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~SignalsHeldOff() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGPIPE, pipe_);
  }
  SignalsHeldOff(const SignalsHeldOff&) = delete;
  SignalsHeldOff& operator=(const SignalsHeldOff&) = delete;

 private:
  void (*interrupt_)(int);
  void (*pipe_)(int);
};

// False: it could not be started, so nothing was shown.
bool Page(const std::string& command, const std::string& text) {
  std::cout << std::flush;
  std::FILE* const pipe = popen(command.c_str(), "w");
  if (pipe == nullptr) return false;
  // Only now, since a child would inherit what is ignored.
  const SignalsHeldOff held_off;
  std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = pclose(pipe);
  return !WIFEXITED(status) || WEXITSTATUS(status) != kNotFound;
}

}  // namespace

std::string PagerCommand() {
  for (const char* const variable : {"FROSTLINE_PAGER", "PAGER"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr) return value;
  }
  return kUsualPager;
}

void PrintPaged(const Terminal& terminal, const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const bool is_tall = terminal.height > 0 && lines >= terminal.height;
  if (terminal.out_is_tty && terminal.pages && is_tall) {
    const std::string command = PagerCommand();
    if (!command.empty() && Page(command, text)) return;
  }
  std::cout << text;
}

}  // namespace frostline::cli
