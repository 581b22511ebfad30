// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_log.h"

#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "cli/client/notes.h"
#include "cli/view/format.h"
#include "cli/view/log_view.h"

namespace frostline::cli {
namespace {

// The wait for a log. The worker of a running trial is asked and answers within
// a second; a worker of an earlier version answers with its next heartbeat.
constexpr int kLogWaitSeconds = 25;

absl::Status ExplainNoLog(Client& client, const std::string& name) {
  v1::GetTrialRequest request;
  request.set_name(name);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client.Call(&v1::StudyService::Stub::GetTrial, request));
  std::cerr << DescribeNoLog(trial);
  return absl::OkStatus();
}

// Explains the log. REQUIRES: it is the log of an attempt.
void ExplainLog(const std::string& name, const v1::GetTrialLogReply& log) {
  if (log.state() != v1::ATTEMPT_STATE_RUNNING) {
    std::cerr << DescribeLogPlace(name, log);
  } else if (!log.live()) {
    std::cerr << "its worker did not answer within " << kLogWaitSeconds
              << " s: see `frostline worker list`\n"
              << DescribeLogPlace(name, log);
  } else if (log.tail().empty()) {
    std::cerr << "the log has no lines yet\n";
  }
}

}  // namespace

absl::StatusOr<ExitCode> ShowLog(Session& session, const TrialLogArgs& args) {
  if (args.follow) return FollowLog(session, args);
  v1::GetTrialLogRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_attempt(args.attempt);
  request.mutable_wait()->set_seconds(kLogWaitSeconds);
  ASSIGN_OR_RETURN(const v1::GetTrialLogReply log,
                   client->Call(&v1::StudyService::Stub::GetTrialLog, request));
  if (args.json) {
    std::cout << LogToJson(request.name(), log, /*is_line=*/false);
  } else if (log.attempt() == 0) {
    RETURN_IF_ERROR(ExplainNoLog(*client, request.name()));
  } else {
    std::cout << log.tail() << std::flush;
    ExplainLog(request.name(), log);
  }
  return kExitOk;
}

// `frostline trial log --follow`: one call waits at the coordinator for more
// bytes after the last one that was printed.

namespace {

constexpr int kWaitSeconds = 20;
constexpr Duration kPatience = std::chrono::minutes(10);
constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLongestLogPause = std::chrono::seconds(10);
// The pause between two polls of a trial without news.
constexpr Duration kPause = std::chrono::milliseconds(500);
constexpr std::size_t kMostTail = std::size_t{64} << 10;

bool IsPassingLog(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

class Follower {
 public:
  Follower(Client& client, std::string name, const TrialLogArgs& args)
      : client_(client), name_(std::move(name)), args_(args) {}

  absl::StatusOr<v1::Trial> Run();

 private:
  // Asks again while the coordinator is away.
  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> Ask(Method method, const Request& request);
  absl::StatusOr<v1::Trial> Look();
  // Until the attempt has ended.
  absl::Status FollowAttempt();
  // Answers whether anything was new.
  bool Print(v1::GetTrialLogReply log);

  Client& client_;
  const std::string name_;
  const TrialLogArgs args_;
  const SystemClock clock_;
  Rng rng_{static_cast<std::uint64_t>(clock_.Steady().count())};
  std::int64_t attempt_ = 0;
  std::optional<std::int64_t> after_;  // bytes of the attempt's log so far
  std::string tail_;   // the last of them, for who does not count
  std::string place_;  // what is said of an attempt that has ended
};

template <typename Reply, typename Method, typename Request>
absl::StatusOr<Reply> Follower::Ask(Method method, const Request& request) {
  Backoff backoff(kFirstPause, kLongestLogPause);
  const SteadyTime begin = clock_.Steady();
  bool has_said = false;
  while (true) {
    absl::StatusOr<Reply> reply = client_.Call(method, request);
    const bool goes_on = !reply.ok() && IsPassingLog(reply.status()) &&
                         clock_.Steady() - begin < kPatience;
    if (!goes_on) return reply;
    if (!std::exchange(has_said, true)) {
      Notes() << "the coordinator is away (" << reply.status().message()
              << "); asking again\n";
    }
    std::this_thread::sleep_for(backoff.Next(rng_));
  }
}

absl::StatusOr<v1::Trial> Follower::Look() {
  v1::GetTrialRequest request;
  request.set_name(name_);
  return Ask<v1::Trial>(&v1::StudyService::Stub::GetTrial, request);
}

absl::StatusOr<v1::Trial> Follower::Run() {
  std::int64_t followed = 0;
  while (true) {
    ASSIGN_OR_RETURN(v1::Trial trial, Look());
    const std::int64_t wanted =
        args_.attempt > 0 ? args_.attempt : trial.attempt();
    if (wanted != followed) {
      std::cerr << std::exchange(place_, "");
      if (wanted > 1) std::cerr << name_ << ": attempt " << wanted << "\n";
      attempt_ = followed = wanted;
      after_.reset();
      tail_.clear();
      RETURN_IF_ERROR(FollowAttempt());
    } else if (args_.attempt > 0 || IsEnded(trial.state())) {
      std::cerr << place_;
      return trial;
    } else if (trial.state() == v1::TRIAL_STATE_RUNNING) {
      // Its lease had been given up for lost, and was taken up again.
      RETURN_IF_ERROR(FollowAttempt());
    }
    if (wanted == 0 || !IsEnded(trial.state())) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

absl::Status Follower::FollowAttempt() {
  v1::GetTrialLogRequest request;
  request.set_name(name_);
  request.set_attempt(attempt_);
  request.mutable_wait()->set_seconds(kWaitSeconds);
  while (true) {
    if (after_.has_value()) request.set_after(*after_);
    ASSIGN_OR_RETURN(const v1::GetTrialLogReply log,
                     Ask<v1::GetTrialLogReply>(
                         &v1::StudyService::Stub::GetTrialLog, request));
    const bool is_new = Print(log);
    if (log.live() || log.place().end() > 0) after_ = log.place().end();
    if (log.state() != v1::ATTEMPT_STATE_RUNNING) {
      place_ = DescribeLogPlace(name_, log);
      return absl::OkStatus();
    }
    if (log.live() && !is_new) std::this_thread::sleep_for(kPause);
  }
}

bool Follower::Print(v1::GetTrialLogReply log) {
  const std::int64_t end = log.place().end();
  if (end == 0) {
    // It does not matter who answered: each answer is the whole tail.
    log.set_tail(BeyondTail(tail_, log.tail()));
  } else if (after_.has_value()) {
    const std::int64_t lost =
        end - *after_ - static_cast<std::int64_t>(log.tail().size());
    if (lost > 0) std::cerr << "(" << lost << " bytes came too fast)\n";
  }
  const std::string& fresh = log.tail();
  tail_ += fresh;
  if (tail_.size() > kMostTail) tail_.erase(0, tail_.size() - kMostTail);
  const bool is_over = log.state() != v1::ATTEMPT_STATE_RUNNING;
  if (args_.json && (is_over || !fresh.empty())) {
    std::cout << LogToJson(name_, log, /*is_line=*/true) << std::flush;
  } else if (!args_.json) {
    std::cout << fresh << std::flush;
  }
  return !fresh.empty();
}

}  // namespace

absl::StatusOr<ExitCode> FollowLog(Session& session, const TrialLogArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study about,
                   FetchStudy(*client, StudyNameOfTrial(name)));
  Follower follower(*client, name, args);
  ASSIGN_OR_RETURN(const v1::Trial trial, follower.Run());
  if (trial.attempt() == 0) std::cerr << DescribeNoLog(trial);
  std::cerr << DescribeOutcome(trial, about.spec());
  return kExitOk;
}

}  // namespace frostline::cli
