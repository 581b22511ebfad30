// SPDX-License-Identifier: Apache-2.0
//
// File: keys.h
#ifndef FROSTLINE_CLI_LIVE_KEYS_H_
#define FROSTLINE_CLI_LIVE_KEYS_H_

#include <string>
#include <vector>

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_KEYS_H_
