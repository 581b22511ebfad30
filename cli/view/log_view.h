// SPDX-License-Identifier: Apache-2.0
//
// File: log_view.h
//
// Remarks about a trial's log, besides its lines.
#ifndef FROSTLINE_CLI_VIEW_LOG_VIEW_H_
#define FROSTLINE_CLI_VIEW_LOG_VIEW_H_

#include <string>

#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// Returns "attempt 2 COMPLETED; its whole log was node7:/runs/…/2.log, which …"
// as a line, for an attempt that does not run.
std::string DescribeLogPlace(const std::string& trial,
                             const v1::GetTrialLogReply& log);

// Returns a line that says why a trial without an attempt has no log: it has
// not begun, or it ended without running here.
std::string DescribeNoLog(const v1::Trial& trial);

// Returns the log as a JSON object: the answer's fields as in protobuf's JSON,
// but the lines as text. `is_line` writes it on one line.
std::string LogToJson(const std::string& trial, const v1::GetTrialLogReply& log,
                      bool is_line);

// Returns "studies/a/trials/3 is SUCCEEDED: accuracy 0.91" as a line.
std::string DescribeOutcome(const v1::Trial& trial, const v1::StudySpec& spec);

// Returns the new part of `now`, where `before` and `now` are tails of the same
// log whose positions are unknown.
std::string BeyondTail(const std::string& before, const std::string& now);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_LOG_VIEW_H_
