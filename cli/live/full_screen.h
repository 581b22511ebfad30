// SPDX-License-Identifier: Apache-2.0
//
// File: full_screen.h
//
// The terminal as a full screen and as lines that change.
// docs/adr/0030-full-screen.md says why no library is used.
#ifndef FROSTLINE_CLI_LIVE_FULL_SCREEN_H_
#define FROSTLINE_CLI_LIVE_FULL_SCREEN_H_

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::cli {

enum class KeyKind {
  kText,  // one UTF-8 character in `text`
  kUp,
  kDown,
  kEnter,
  kEscape,  // the escape key or the arrow to the left
  kErase,
  kRedraw,  // to draw again: a new size, or another program used the terminal
  kEnd,     // Ctrl-C, SIGTERM, or the terminal is gone
};

struct Key {
  KeyKind kind = KeyKind::kText;
  std::string text = {};
  int signal = 0;  // for kEnd: the signal, if there was one
};

// Returns the keys in the bytes of one read. Keys without a meaning here are
// left out.
std::vector<Key> KeysOf(const std::string& bytes);

struct ScreenSize {
  int width = 80;
  int height = 24;
};

// Returns the current size, or 80 × 24 if it is unknown.
ScreenSize SizeOfTerminal(int fd);

// Returns the text that shows these lines on a cleared screen.
std::string FrameText(const std::vector<std::string>& lines);

// The whole terminal, held for the life of the object. Afterwards the terminal
// is as before, also when the program is told to end or is suspended. There is
// one object at a time, used by one thread.
class FullScreen {
 public:
  // Takes the terminal. Returns REQUEST_INVALID when input or output is not a
  // terminal.
  static absl::StatusOr<std::unique_ptr<FullScreen>> Open();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  ScreenSize Size() const;
  void Show(const std::vector<std::string>& lines);
  // Returns the keys that came within `longest`, as soon as there are any.
  std::vector<Key> Await(Duration longest);

 private:
  explicit FullScreen(const termios& before) : before_(before) {}

  void Enter();
  void Leave();
  // Gives the terminal back, stops the process, and takes the terminal again
  // when the process goes on.
  void Suspend();
  void AddSignals(std::vector<Key>* keys);

  const termios before_;
  bool is_shown_ = false;
  std::string shown_;
};

// Returns the text that shows `lines` in place of the last `shown` lines. The
// last line has no newline.
std::string RedrawText(std::size_t shown,
                       const std::vector<std::string>& lines);

// Lines at the end of standard error that change at most ten times a second. It
// writes nothing when standard error is not a terminal.
class LiveArea {
 public:
  LiveArea(bool is_terminal, const Clock& clock)
      : is_terminal_(is_terminal), clock_(clock) {}
  ~LiveArea() { Clear(); }
  LiveArea(const LiveArea&) = delete;
  LiveArea& operator=(const LiveArea&) = delete;

  // Returns the current size of the terminal.
  static ScreenSize Size();

  // Shows these lines. It skips a call that comes too early, because a later
  // one follows. If there are more lines than fit, it leaves out the first
  // ones.
  void Show(std::vector<std::string> lines);
  // Removes the lines. Call it before anything else is written.
  void Clear();

 private:
  const bool is_terminal_;
  const Clock& clock_;
  std::size_t shown_ = 0;
  SteadyTime next_ = SteadyTime::min();
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_FULL_SCREEN_H_
