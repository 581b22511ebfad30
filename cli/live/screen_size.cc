// SPDX-License-Identifier: Apache-2.0
#include "cli/live/screen_size.h"

#include <sys/ioctl.h>

namespace frostline::cli {

ScreenSize SizeOfTerminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ||
      size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

}  // namespace frostline::cli
