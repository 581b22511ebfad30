// SPDX-License-Identifier: Apache-2.0
#include "cli/term/terminal.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "cli/term/table.h"

namespace frostline::cli {
namespace {

constexpr int kUsualWidth = 80;

bool HasEnv(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool IsDumb() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

winsize SizeOf(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) size = {};
  if (size.ws_col == 0) size.ws_col = kUsualWidth;
  return size;
}

}  // namespace

Terminal DetectTerminal(bool no_color) {
  Terminal terminal;
  terminal.out_is_tty = isatty(STDOUT_FILENO) == 1;
  terminal.err_is_tty = isatty(STDERR_FILENO) == 1 && !IsDumb();
  terminal.color = terminal.out_is_tty && terminal.err_is_tty && !no_color &&
                   !HasEnv("NO_COLOR");
  if (!terminal.out_is_tty) return terminal;
  const winsize size = SizeOf(STDOUT_FILENO);
  terminal.width = size.ws_col;
  terminal.height = size.ws_row;
  terminal.pages = !IsDumb();
  return terminal;
}

std::string Paint(const Terminal& terminal, const char* style,
                  const std::string& text) {
  if (!terminal.color) return text;
  return absl::StrCat("\x1b[", style, "m", text, "\x1b[0m");
}

std::string ShellWord(const std::string& text) {
  const bool is_plain =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains("/._-+:", absl::string_view(&c, 1));
      });
  if (is_plain) return text;
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

void StatusLine::Show(const std::string& text) {
  if (!terminal_.err_is_tty) return;
  const int width = terminal_.width == 0 ? kUsualWidth : terminal_.width;
  // The last column stays free: some terminals wrap as soon as it is used.
  std::cerr << "\r\x1b[K" << FitToWidth(text, width - 1) << std::flush;
  shown_ = true;
}

void StatusLine::Clear() {
  if (!shown_) return;
  std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

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

namespace {

constexpr char kUsualPager[] =
    "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
// The exit code of `sh` for a command that does not exist.
constexpr int kNotFound = 127;

// Ignores signals while the pager runs: Ctrl-C belongs to the pager, and a pipe
// that it closes is not a failure.
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

// Shows text in the pager. Returns false if it could not be started.
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

namespace {

constexpr std::size_t kMostBytes = 1024;

// Hides the typing while it exists. Ctrl-C then interrupts read() instead of
// ending the program, which would leave the terminal without echo.
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

// Reads byte by byte, because the input after the line belongs to others.
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
