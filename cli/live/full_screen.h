// SPDX-License-Identifier: Apache-2.0
//
// File: full_screen.h
//
// docs/adr/0030-full-screen.md has why no library does this.
#ifndef FROSTLINE_CLI_LIVE_FULL_SCREEN_H_
#define FROSTLINE_CLI_LIVE_FULL_SCREEN_H_

#include <termios.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/live/keys.h"
#include "cli/live/screen_size.h"

namespace frostline::cli {

// What is written to show these lines, whatever stood there before.
std::string FrameText(const std::vector<std::string>& lines);

// The whole terminal while it exists; afterwards it is as before, whether the
// program ended, was told to end, or is suspended. There is one at a time, and
// one thread uses it.
class FullScreen {
 public:
  // Answers REQUEST_INVALID where input and output are no terminal.
  static absl::StatusOr<std::unique_ptr<FullScreen>> Open();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  ScreenSize Size() const;
  void Show(const std::vector<std::string>& lines);
  // Returns what came within `longest`, at once when something is there.
  std::vector<Key> Await(Duration longest);

 private:
  explicit FullScreen(const termios& before) : before_(before) {}

  void Enter();
  void Leave();
  // Gives the terminal back, stops, and takes it again when it goes on.
  void Suspend();
  void AddSignals(std::vector<Key>* keys);

  const termios before_;
  bool is_shown_ = false;
  std::string shown_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_FULL_SCREEN_H_
