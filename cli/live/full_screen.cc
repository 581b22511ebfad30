// SPDX-License-Identifier: Apache-2.0
#include "cli/live/full_screen.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/term/table.h"

namespace frostline::cli {
namespace {

constexpr char kEscapeByte = '\x1b';

bool IsFinal(char byte) { return byte >= '@' && byte <= '~'; }

// Reads "ESC [ … final" or "ESC O final" at `*at`. A lone ESC is the key
// itself.
std::optional<Key> TakeEscape(const std::string& bytes, std::size_t* at) {
  std::size_t end = *at + 1;
  const bool is_sequence =
      end < bytes.size() && (bytes[end] == '[' || bytes[end] == 'O');
  if (!is_sequence) {
    ++*at;
    return Key{KeyKind::kEscape};
  }
  ++end;
  while (end < bytes.size() && !IsFinal(bytes[end])) ++end;
  const char final = end < bytes.size() ? bytes[end] : '\0';
  *at = end + 1;
  if (final == 'A') return Key{KeyKind::kUp};
  if (final == 'B') return Key{KeyKind::kDown};
  if (final == 'C') return Key{KeyKind::kEnter};
  if (final == 'D') return Key{KeyKind::kEscape};
  return std::nullopt;
}

std::size_t BytesOfChar(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

std::optional<Key> TakeChar(const std::string& bytes, std::size_t* at) {
  const char first = bytes[*at];
  const std::string text = bytes.substr(*at, BytesOfChar(first));
  *at += text.size();
  if (first == '\r' || first == '\n') return Key{KeyKind::kEnter};
  if (first == '\b' || first == '\x7f') return Key{KeyKind::kErase};
  if (first == '\x03' || first == '\x04') return Key{KeyKind::kEnd};
  if (static_cast<unsigned char>(first) < ' ') return std::nullopt;
  return Key{KeyKind::kText, text};
}

}  // namespace

std::vector<Key> KeysOf(const std::string& bytes) {
  std::vector<Key> keys;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto key = bytes[at] == kEscapeByte ? TakeEscape(bytes, &at)
                                              : TakeChar(bytes, &at);
    if (key.has_value()) keys.push_back(*key);
  }
  return keys;
}

ScreenSize SizeOfTerminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ||
      size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

namespace {

// Switches to the other screen without a cursor, and back.
constexpr char kTake[] = "\x1b[?1049h\x1b[?25l";
constexpr char kGiveBack[] = "\x1b[?25h\x1b[?1049l";
constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGHUP,
                                 SIGTSTP, SIGCONT, SIGWINCH};

// Carries signals to the thread that draws, because a handler may only write.
// Any thread may get the signal, also those of gRPC.
std::array<int, 2> signal_pipe = {-1, -1};
std::array<struct sigaction, kSignals.size()> handlers_before;

void NoteSignal(int signal) {
  const int error = errno;
  const char byte = static_cast<char>(signal);
  // A full pipe has enough to wake its reader.
  [[maybe_unused]] const auto written = write(signal_pipe[1], &byte, 1);
  errno = error;
}

void Handle(int signal) {
  struct sigaction action{};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;  // the terminal has gone
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string ReadFrom(int fd) {
  std::array<char, 256> buffer;
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count))
                   : "";
}

}  // namespace

std::string FrameText(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Before the line: behind one that fills the width it would take its end.
    absl::StrAppend(&text, i == 0 ? "" : "\r\n", "\x1b[2K", lines[i]);
  }
  return text + "\x1b[J";
}

absl::StatusOr<std::unique_ptr<FullScreen>> FullScreen::Open() {
  termios before{};
  if (isatty(STDOUT_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before) != 0 ||
      pipe2(signal_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return MakeError(ErrorId::kRequestInvalid,
                     "input and output are no terminal", "use --once");
  }
  std::unique_ptr<FullScreen> screen(new FullScreen(before));
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &handlers_before[i]);
    Handle(kSignals[i]);
  }
  screen->Enter();
  return screen;
}

FullScreen::~FullScreen() {
  Leave();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &handlers_before[i], nullptr);
  }
  for (int& end : signal_pipe) close(std::exchange(end, -1));
}

void FullScreen::Enter() {
  termios raw = before_;
  // Ctrl-C and Ctrl-Z stay signals, as they are from another terminal.
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  if (!std::exchange(is_shown_, true)) Write(kTake);
  shown_.clear();
}

void FullScreen::Leave() {
  if (!std::exchange(is_shown_, false)) return;
  Write(kGiveBack);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void FullScreen::Suspend() {
  Leave();
  std::signal(SIGTSTP, SIG_DFL);
  std::raise(SIGTSTP);  // it goes on from here
  Handle(SIGTSTP);
  Enter();
}

void FullScreen::AddSignals(std::vector<Key>* keys) {
  for (const char signal : ReadFrom(signal_pipe[0])) {
    if (signal == SIGTSTP) {
      Suspend();
      keys->push_back({KeyKind::kRedraw});
    } else if (signal == SIGCONT || signal == SIGWINCH) {
      Enter();
      keys->push_back({KeyKind::kRedraw});
    } else {
      keys->push_back({KeyKind::kEnd, "", signal});
    }
  }
}

ScreenSize FullScreen::Size() const { return SizeOfTerminal(STDOUT_FILENO); }

void FullScreen::Show(const std::vector<std::string>& lines) {
  std::string text = FrameText(lines);
  // What stands there already is not written again.
  if (text == shown_) return;
  Write(text);
  shown_ = std::move(text);
}

std::vector<Key> FullScreen::Await(Duration longest) {
  std::array<pollfd, 2> ends = {pollfd{STDIN_FILENO, POLLIN, 0},
                                pollfd{signal_pipe[0], POLLIN, 0}};
  const auto wait =
      std::chrono::duration_cast<std::chrono::milliseconds>(longest);
  std::vector<Key> keys;
  if (poll(ends.data(), ends.size(), static_cast<int>(wait.count())) <= 0 &&
      errno != EINTR) {
    return keys;
  }
  AddSignals(&keys);
  if (ends[0].revents == 0) return keys;
  const std::string bytes = ReadFrom(STDIN_FILENO);
  if (bytes.empty()) return {Key{KeyKind::kEnd}};
  const std::vector<Key> typed = KeysOf(bytes);
  keys.insert(keys.end(), typed.begin(), typed.end());
  return keys;
}

namespace {

constexpr Duration kShortest = std::chrono::milliseconds(100);

}  // namespace

std::string RedrawText(std::size_t shown,
                       const std::vector<std::string>& lines) {
  const std::string up = shown > 1 ? absl::StrCat("\x1b[", shown - 1, "A") : "";
  return absl::StrCat(up, "\r\x1b[J", absl::StrJoin(lines, "\r\n"));
}

ScreenSize LiveArea::Size() { return SizeOfTerminal(STDERR_FILENO); }

void LiveArea::Show(std::vector<std::string> lines) {
  const SteadyTime now = clock_.Steady();
  if (!is_terminal_ || lines.empty() || now < next_) return;
  next_ = now + kShortest;
  const ScreenSize size = Size();
  const auto most = static_cast<std::size_t>(size.height);
  if (lines.size() > most) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  }
  // The last column stays free: some terminals wrap as soon as it is used.
  for (std::string& line : lines) line = FitToWidth(line, size.width - 1);
  std::cerr << RedrawText(shown_, lines) << std::flush;
  shown_ = lines.size();
}

void LiveArea::Clear() {
  if (shown_ == 0) return;
  std::cerr << RedrawText(shown_, {}) << std::flush;
  shown_ = 0;
  next_ = SteadyTime::min();
}

}  // namespace frostline::cli
