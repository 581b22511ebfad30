// SPDX-License-Identifier: Apache-2.0
//
// File: watcher.h
//
// A broken stream is taken up again, with back-off, from the last revision seen
// or, where the history no longer has it, from the newest.
#ifndef FROSTLINE_CLI_CLIENT_WATCHER_H_
#define FROSTLINE_CLI_CLIENT_WATCHER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

// The changes of many studies, over one call at a time: a stream for each of a
// thousand studies would be a thousand streams.

struct StudiesWatchOptions {
  // Empty: all, those too that appear later; of these everything is told.
  std::vector<std::string> studies = {};
  // Of each study. Absent: what changes from now on.
  std::optional<std::int64_t> after_revision = {};
  // Whether it goes on once everything up to now was told.
  bool follows = true;
  Duration every = std::chrono::seconds(1);
  // The coordinator may be away for so long at a time.
  Duration patience = std::chrono::minutes(10);
};

struct StudiesWatchHandlers {
  // Comes before the first event of a study, and whenever it has changed.
  std::function<void(const v1::Study&)> on_study;
  std::function<void(const v1::StudyEvent&)> on_event;
  // It is tried again after a pause; comes once for each time it is away.
  std::function<void(const absl::Status&)> on_break;
  // Where it was away and is back.
  std::function<void()> on_back = [] {};
};

// Blocks. Events of one study come in their order; it answers OK when it does
// not follow, else why it cannot go on.
absl::Status WatchStudies(Client& client, const StudiesWatchOptions& options,
                          const StudiesWatchHandlers& handlers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_WATCHER_H_
