// SPDX-License-Identifier: Apache-2.0
//
// File: record_fetch.h
#ifndef FROSTLINE_CLI_REPORT_RECORD_FETCH_H_
#define FROSTLINE_CLI_REPORT_RECORD_FETCH_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// Asks the coordinator for everything about "studies/ID". What cannot be said
// of the study yet (too few trials for a plan) is noted in `missing`; any other
// error ends it.
absl::StatusOr<StudyRecord> FetchRecord(Client& client,
                                        const std::string& study,
                                        double tolerance);

// The same without what is computed of a search: importance, plan, frontier.
absl::StatusOr<StudyRecord> FetchTrialsRecord(Client& client,
                                              const std::string& study);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_RECORD_FETCH_H_
