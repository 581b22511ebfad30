// SPDX-License-Identifier: Apache-2.0
//
// File: watcher.h
//
// A broken stream is taken up again, with back-off, from the last revision seen
// or, where the history no longer has it, from the newest.
#ifndef FROSTLINE_CLI_CLIENT_WATCHER_H_
#define FROSTLINE_CLI_CLIENT_WATCHER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

struct WatchOptions {
  std::string study;
  std::int64_t after_revision = 0;
  // The coordinator may be away for so long at a time.
  Duration patience = std::chrono::minutes(10);
  // The watch ends after so long with DEADLINE_PASSED; zero: never.
  Duration timeout = Duration::zero();
  Duration first_pause = std::chrono::milliseconds(200);
  Duration longest_pause = std::chrono::seconds(10);
};

struct WatchHandlers {
  // False ends the watch.
  std::function<bool(const v1::StudyEvent&)> on_event;
  // It is tried again after a pause.
  std::function<void(const absl::Status&)> on_break;
};

// Whether a stream that ended so is worth another try.
bool IsPassing(const absl::Status& status);

// Blocks. It answers OK when on_event ended it, else why it cannot go on.
absl::Status Watch(Client& client, const WatchOptions& options,
                   const WatchHandlers& handlers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_WATCHER_H_
