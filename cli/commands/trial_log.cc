// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_log.h"

#include <iostream>

#include "base/error.h"
#include "cli/view/format.h"
#include "cli/view/log_view.h"

namespace frostline::cli {
namespace {

// Of a running trial its worker is asked, which has it within a second; one of
// an earlier version answers with its next heartbeat.
constexpr int kLogWaitSeconds = 25;

absl::Status ExplainNoLog(Client& client, const std::string& name) {
  v1::GetTrialRequest request;
  request.set_name(name);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client.Call(&v1::StudyService::Stub::GetTrial, request));
  std::cerr << DescribeNoLog(trial);
  return absl::OkStatus();
}

// REQUIRES: it is of an attempt.
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

}  // namespace frostline::cli
