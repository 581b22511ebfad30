// SPDX-License-Identifier: Apache-2.0
//
// File: full_screen.h
//
// docs/adr/0030-full-screen.md has why no library does this.
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
  kText,  // one character, as UTF-8, in `text`
  kUp,
  kDown,
  kEnter,
  kEscape,  // or the arrow to the left
  kErase,
  kRedraw,  // the terminal has another size, or was somebody else's meanwhile
  kEnd,     // Ctrl-C, SIGTERM, a terminal that has gone
};

struct Key {
  KeyKind kind = KeyKind::kText;
  std::string text = {};
  int signal = 0;  // of kEnd: the one that told it to end, if it was one
};

// What a terminal sent in one read. Keys that mean nothing here are left out.
std::vector<Key> KeysOf(const std::string& bytes);

struct ScreenSize {
  int width = 80;
  int height = 24;
};

// As it is now; 80 × 24 where it is not known.
ScreenSize SizeOfTerminal(int fd);

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

#endif  // FROSTLINE_CLI_LIVE_FULL_SCREEN_H_
