// SPDX-License-Identifier: Apache-2.0
#include "cli/term/secret_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>

#include "absl/strings/ascii.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostBytes = 1024;

// While it exists nothing that is typed is shown, and Ctrl-C interrupts a
// read() instead of ending the program, which would leave the terminal mute.
class Silence {
 public:
  Silence() {
    tcgetattr(STDIN_FILENO, &before_);
    termios mute = before_;
    mute.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    mute.c_lflag |= ECHONL;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &mute);
    struct sigaction interrupt{};
    interrupt.sa_handler = [](int) {};  // and no SA_RESTART
    sigaction(SIGINT, &interrupt, &on_interrupt_);
    sigaction(SIGTERM, &interrupt, &on_end_);
  }
  ~Silence() {
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    sigaction(SIGINT, &on_interrupt_, nullptr);
    sigaction(SIGTERM, &on_end_, nullptr);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  termios before_{};
  struct sigaction on_interrupt_{};
  struct sigaction on_end_{};
};

// Byte by byte: what follows the line is somebody else's.
absl::StatusOr<std::string> ReadLine() {
  std::string line;
  char c = '\0';
  while (line.size() <= kMostBytes) {
    const ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) return absl::CancelledError("interrupted");
    if (n <= 0 || c == '\n') break;
    line += c;
  }
  return line;
}

absl::StatusOr<std::string> Ask(const std::string& prompt) {
  if (isatty(STDIN_FILENO) != 1) return ReadLine();
  const Silence silence;
  std::cerr << prompt << std::flush;
  return ReadLine();
}

}  // namespace

absl::StatusOr<SecretString> ReadSecret(const std::string& prompt) {
  auto line = Ask(prompt);
  if (!line.ok()) return line.status();
  absl::StripAsciiWhitespace(&*line);
  if (!line->empty() && line->size() <= kMostBytes) {
    return SecretString(*std::move(line));
  }
  return MakeError(ErrorId::kRequestInvalid,
                   line->empty() ? "standard input has no token"
                                 : "standard input has more than a token",
                   "type or pipe the token there, or give --token-file FILE");
}

}  // namespace frostline::cli
