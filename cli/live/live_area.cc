// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_area.h"

#include <unistd.h>

#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/utf8.h"

namespace frostline::cli {
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
