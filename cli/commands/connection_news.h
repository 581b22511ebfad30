// SPDX-License-Identifier: Apache-2.0
//
// File: connection_news.h
#ifndef FROSTLINE_CLI_COMMANDS_CONNECTION_NEWS_H_
#define FROSTLINE_CLI_COMMANDS_CONNECTION_NEWS_H_

#include <ostream>
#include <utility>

#include "absl/status/status.h"

namespace frostline::cli {

// Tells whoever follows a stream that it broke, once however often it is tried
// again, and once that it is back.
class ConnectionNews {
 public:
  explicit ConnectionNews(std::ostream& out) : out_(out) {}

  // An orderly end, e.g. of a proxy's patience, is OK and no news.
  void Lost(const absl::Status& status) {
    if (status.ok() || std::exchange(is_lost_, true)) return;
    out_ << "connection lost (" << status.message() << "); trying again" << '\n'
         << std::flush;
  }
  void Back() {
    if (std::exchange(is_lost_, false)) {
      out_ << "connected again\n" << std::flush;
    }
  }

 private:
  std::ostream& out_;
  bool is_lost_ = false;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_CONNECTION_NEWS_H_
