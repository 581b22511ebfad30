// SPDX-License-Identifier: Apache-2.0
//
// File: live_area.h
#ifndef FROSTLINE_CLI_LIVE_LIVE_AREA_H_
#define FROSTLINE_CLI_LIVE_LIVE_AREA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/live/screen_size.h"

namespace frostline::cli {

// What is written to show `lines` over `shown` lines that stand there already,
// the last of them without its newline.
std::string RedrawText(std::size_t shown,
                       const std::vector<std::string>& lines);

// Lines at the end of standard error that change, ten times a second at most.
// Off a terminal it writes nothing.
class LiveArea {
 public:
  LiveArea(bool is_terminal, const Clock& clock)
      : is_terminal_(is_terminal), clock_(clock) {}
  ~LiveArea() { Clear(); }
  LiveArea(const LiveArea&) = delete;
  LiveArea& operator=(const LiveArea&) = delete;

  // The terminal's size as it is now.
  static ScreenSize Size();

  // What comes too early is left out; something later shows it. The first of
  // more lines than fit are left out, too.
  void Show(std::vector<std::string> lines);
  // Call it before anything else is written.
  void Clear();

 private:
  const bool is_terminal_;
  const Clock& clock_;
  std::size_t shown_ = 0;
  SteadyTime next_ = SteadyTime::min();
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_LIVE_AREA_H_
