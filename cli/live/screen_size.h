// SPDX-License-Identifier: Apache-2.0
//
// File: screen_size.h
#ifndef FROSTLINE_CLI_LIVE_SCREEN_SIZE_H_
#define FROSTLINE_CLI_LIVE_SCREEN_SIZE_H_

namespace frostline::cli {

struct ScreenSize {
  int width = 80;
  int height = 24;
};

// As it is now; 80 × 24 where it is not known.
ScreenSize SizeOfTerminal(int fd);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_SCREEN_SIZE_H_
