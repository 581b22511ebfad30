// SPDX-License-Identifier: Apache-2.0
#include "cli/client/watcher.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/retry.h"
#include "base/rng.h"

namespace frostline::cli {
namespace {

struct Progress {
  std::int64_t revision = 0;
  bool moved = false;  // since the stream was opened
  bool done = false;
};

absl::Status ReadStream(Client& client, const WatchOptions& options,
                        const WatchHandlers& handlers, Duration left,
                        Progress* progress) {
  v1::WatchStudyRequest request;
  request.set_name(options.study);
  request.set_after_revision(progress->revision);
  grpc::ClientContext context;
  client.ShowToken(&context);
  if (left > Duration::zero()) {
    context.set_deadline(std::chrono::system_clock::now() + left);
  }
  const auto reader = client.studies().WatchStudy(&context, request);
  v1::StudyEvent event;
  progress->moved = false;
  while (reader->Read(&event)) {
    progress->moved = true;
    progress->revision = std::max(progress->revision, event.revision());
    if (handlers.on_event(event)) continue;
    progress->done = true;
    context.TryCancel();
    break;
  }
  while (reader->Read(&event)) {
  }
  const grpc::Status status = reader->Finish();
  if (progress->done || status.ok()) return absl::OkStatus();
  return client.Explain(status);
}

// Where to go on when the coordinator's history starts later, or ends earlier
// (a restored backup), than where we are.
absl::StatusOr<std::int64_t> NewestRevision(Client& client,
                                            const std::string& study) {
  v1::GetStudyRequest request;
  request.set_name(study);
  ASSIGN_OR_RETURN(const v1::Study now,
                   client.Call(&v1::StudyService::Stub::GetStudy, request));
  return now.revision();
}

absl::Status TimeIsOver(Duration timeout) {
  const std::chrono::duration<double> seconds = timeout;
  return MakeError(ErrorId::kDeadlinePassed,
                   absl::StrCat(seconds.count(), " s have passed"),
                   "wait longer");
}

}  // namespace

// A coordinator that is about to end cancels what it has just accepted.
bool IsPassing(const absl::Status& status) {
  return status.ok() || absl::IsUnavailable(status) ||
         absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

absl::Status Watch(Client& client, const WatchOptions& options,
                   const WatchHandlers& handlers) {
  const SystemClock clock;
  Rng rng(static_cast<std::uint64_t>(clock.Steady().count()));
  Backoff backoff(options.first_pause, options.longest_pause);
  Progress progress{.revision = options.after_revision};
  SteadyTime last_sign_of_life = clock.Steady();
  const bool is_timed = options.timeout > Duration::zero();
  const SteadyTime end = last_sign_of_life + options.timeout;
  while (true) {
    const Duration left = is_timed ? end - clock.Steady() : Duration::zero();
    if (is_timed && left <= Duration::zero()) {
      return TimeIsOver(options.timeout);
    }
    const absl::Status status =
        ReadStream(client, options, handlers, left, &progress);
    if (progress.done) return absl::OkStatus();
    if (is_timed &&
        (absl::IsDeadlineExceeded(status) || clock.Steady() >= end)) {
      return TimeIsOver(options.timeout);
    }
    if (progress.moved) {
      last_sign_of_life = clock.Steady();
      backoff.Reset();
    }
    if (HasErrorId(status, ErrorId::kHistoryGone)) {
      ASSIGN_OR_RETURN(progress.revision,
                       NewestRevision(client, options.study));
    } else if (!IsPassing(status) ||
               clock.Steady() - last_sign_of_life > options.patience) {
      return status;
    }
    handlers.on_break(status);
    Duration pause = backoff.Next(rng);
    if (is_timed) pause = std::min(pause, end - clock.Steady());
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace frostline::cli
