// SPDX-License-Identifier: Apache-2.0
//
// File: log_view.h
//
// What is said of a trial's log besides its lines.
#ifndef FROSTLINE_CLI_VIEW_LOG_VIEW_H_
#define FROSTLINE_CLI_VIEW_LOG_VIEW_H_

#include <string>

#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// Makes "attempt 2 COMPLETED; its whole log was node7:/runs/…/2.log, which …"
// of an attempt that does not run, as a line.
std::string DescribeLogPlace(const std::string& trial,
                             const v1::GetTrialLogReply& log);

// Says of a trial that has had no attempt, as a line, why it has no log: it has
// not begun, or ended without having run here.
std::string DescribeNoLog(const v1::Trial& trial);

// Makes one JSON object, of the answer's fields in the form of protobuf's JSON,
// but the lines are text; `is_line` leaves out the line breaks between fields.
std::string LogToJson(const std::string& trial, const v1::GetTrialLogReply& log,
                      bool is_line);

// Makes "studies/a/trials/3 is SUCCEEDED: accuracy 0.91" as a line.
std::string DescribeOutcome(const v1::Trial& trial, const v1::StudySpec& spec);

// Returns what `now` has beyond `before`, where both are tails of one log and
// nobody says where they end.
std::string BeyondTail(const std::string& before, const std::string& now);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_LOG_VIEW_H_
