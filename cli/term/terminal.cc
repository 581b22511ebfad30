// SPDX-License-Identifier: Apache-2.0
#include "cli/term/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/term/utf8.h"

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

}  // namespace frostline::cli
