// SPDX-License-Identifier: Apache-2.0
//
// File: watcher.h
//
// Streams of changes that survive a broken connection. A broken stream is
// opened again, with growing pauses, from the last revision seen. If the
// history no longer has that revision, it starts from the newest.
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

// Which study is watched, and for how long.
struct WatchOptions {
  std::string study;
  std::int64_t after_revision = 0;
  // How long the coordinator may be away at a time.
  Duration patience = std::chrono::minutes(10);
  // The watch ends with DEADLINE_PASSED after this time; zero means never.
  Duration timeout = Duration::zero();
  Duration first_pause = std::chrono::milliseconds(200);
  Duration longest_pause = std::chrono::seconds(10);
};

// The functions that a watch of one study calls.
struct WatchHandlers {
  // Is called for each event; false ends the watch.
  std::function<bool(const v1::StudyEvent&)> on_event;
  // Is called when the stream breaks, before the pause and the next try.
  std::function<void(const absl::Status&)> on_break;
};

// Returns whether a stream that ended with `status` is worth another try.
bool IsPassing(const absl::Status& status);

// Watches a study and blocks until the end. Returns OK when on_event ended the
// watch, otherwise the reason why it cannot go on.
absl::Status Watch(Client& client, const WatchOptions& options,
                   const WatchHandlers& handlers);

// Options to watch many studies over one call at a time. A stream for each
// study would mean a thousand streams for a thousand studies.

struct StudiesWatchOptions {
  // The names of the studies. If empty, all studies are watched, also those
  // that appear later, and all of their changes are reported.
  std::vector<std::string> studies = {};
  // The revision of each study to start after. If absent, the watch reports
  // changes from now on.
  std::optional<std::int64_t> after_revision = {};
  // Whether the watch goes on after it has reported everything up to now.
  bool follows = true;
  Duration every = std::chrono::seconds(1);
  // How long the coordinator may be away at a time.
  Duration patience = std::chrono::minutes(10);
};

// The functions that a watch of many studies calls.
struct StudiesWatchHandlers {
  // Is called before the first event of a study and whenever the study changed.
  std::function<void(const v1::Study&)> on_study;
  std::function<void(const v1::StudyEvent&)> on_event;
  // Is called once each time the coordinator is away, before the pause and the
  // next try.
  std::function<void(const absl::Status&)> on_break;
  // Is called when the coordinator is back.
  std::function<void()> on_back = [] {};
};

// Watches the studies and blocks until the end. Events of one study come in
// order. Returns OK when `follows` is false and everything was reported,
// otherwise the reason why it cannot go on.
absl::Status WatchStudies(Client& client, const StudiesWatchOptions& options,
                          const StudiesWatchHandlers& handlers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_WATCHER_H_
