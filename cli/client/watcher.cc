// SPDX-License-Identifier: Apache-2.0
#include "cli/client/watcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
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

// Returns the newest revision. The watch goes on from there when the
// coordinator's history starts later than our revision, or ends before it (a
// restored backup).
absl::StatusOr<std::int64_t> NewestRevision(Client& client,
                                            const std::string& study) {
  ASSIGN_OR_RETURN(const v1::Study now, FetchStudy(client, study));
  return now.revision();
}

absl::Status TimeIsOver(Duration timeout) {
  const std::chrono::duration<double> seconds = timeout;
  return MakeError(ErrorId::kDeadlinePassed,
                   absl::StrCat(seconds.count(), " s have passed"),
                   "wait longer");
}

}  // namespace

// Returns whether a retry makes sense. A coordinator that is about to end
// cancels the calls that it has just accepted.
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

namespace {

constexpr std::chrono::seconds kLongestRead{30};

class StudiesWatch {
 public:
  StudiesWatch(Client& client, const StudiesWatchOptions& options,
               const StudiesWatchHandlers& handlers)
      : client_(client), options_(options), handlers_(handlers) {}

  // Tells what has changed since the last time.
  absl::Status Round();

 private:
  absl::StatusOr<std::vector<v1::Study>> Studies();
  // Where to begin with a study that was not there before.
  std::int64_t Begin(const v1::Study& study) const;
  absl::Status CatchUp(const v1::Study& study, std::int64_t* seen);

  Client& client_;
  const StudiesWatchOptions& options_;
  const StudiesWatchHandlers& handlers_;
  std::map<std::string, std::int64_t> seen_;  // revisions
  bool is_first_ = true;
};

absl::StatusOr<std::vector<v1::Study>> StudiesWatch::Studies() {
  if (options_.studies.empty()) {
    ASSIGN_OR_RETURN(const v1::ListStudiesReply all,
                     client_.CallForAll(&v1::StudyService::Stub::ListStudies,
                                        v1::ListStudiesRequest()));
    return std::vector<v1::Study>(all.studies().begin(), all.studies().end());
  }
  std::vector<v1::Study> studies;
  for (const std::string& name : options_.studies) {
    ASSIGN_OR_RETURN(v1::Study study, FetchStudy(client_, name));
    studies.push_back(std::move(study));
  }
  return studies;
}

std::int64_t StudiesWatch::Begin(const v1::Study& study) const {
  if (!is_first_) return 0;
  return options_.after_revision.value_or(study.revision());
}

absl::Status StudiesWatch::Round() {
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies, Studies());
  for (const v1::Study& study : studies) {
    const auto [at, is_new] = seen_.try_emplace(study.name(), Begin(study));
    if (is_new || study.revision() != at->second) handlers_.on_study(study);
    // It was restored from a backup, or is another one of this name.
    if (study.revision() < at->second) at->second = study.revision();
    if (study.revision() == at->second) continue;
    const absl::Status status = CatchUp(study, &at->second);
    // It was deleted a moment ago; who named it is told in the next round.
    if (!absl::IsNotFound(status)) RETURN_IF_ERROR(status);
  }
  is_first_ = false;
  return absl::OkStatus();
}

// Reports missed changes. The study itself comes last, after everything older
// was reported.
absl::Status StudiesWatch::CatchUp(const v1::Study& study, std::int64_t* seen) {
  v1::WatchStudyRequest request;
  request.set_name(study.name());
  request.set_after_revision(*seen);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLongestRead);
  client_.ShowToken(&context);
  const auto reader = client_.studies().WatchStudy(&context, request);
  v1::StudyEvent event;
  bool is_done = false;
  while (!is_done && reader->Read(&event)) {
    if (event.has_alive()) continue;
    *seen = std::max(*seen, event.revision());
    handlers_.on_event(event);
    is_done = event.has_study() && event.revision() >= study.revision();
  }
  if (is_done) context.TryCancel();
  while (reader->Read(&event)) {
  }
  const grpc::Status status = reader->Finish();
  if (is_done) return absl::OkStatus();
  // An orderly end, e.g. of a proxy's patience: there is more.
  return status.ok() ? absl::UnavailableError("the stream ended")
                     : client_.Explain(status);
}

}  // namespace

absl::Status WatchStudies(Client& client, const StudiesWatchOptions& options,
                          const StudiesWatchHandlers& handlers) {
  const SystemClock clock;
  StudiesWatch watch(client, options, handlers);
  SteadyTime last_sign_of_life = clock.Steady();
  bool is_away = false;
  while (true) {
    const absl::Status status = watch.Round();
    const SteadyTime now = clock.Steady();
    if (status.ok()) {
      last_sign_of_life = now;
      if (std::exchange(is_away, false)) handlers.on_back();
      if (!options.follows) return status;
    } else if (!IsPassing(status) ||
               now - last_sign_of_life > options.patience) {
      return status;
    } else if (!std::exchange(is_away, true)) {
      handlers.on_break(status);
    }
    std::this_thread::sleep_for(options.every);
  }
}

}  // namespace frostline::cli
