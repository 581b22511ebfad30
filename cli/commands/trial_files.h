// SPDX-License-Identifier: Apache-2.0
//
// File: trial_files.h
//
// Verbs that take trials from files and write them into files.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/imported_lines.h"
#include "cli/study_file/yaml_to_proto.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Imports trials that ended elsewhere, in batches that fit a request. The
// request id of a batch is a hash of its content, its place and the study. So
// the same file can be sent again, also after a broken run, and nothing is
// imported twice while the coordinator remembers ids (at least a day).

// Splits the trials into requests. Returns REQUEST_INVALID, with the line, for
// a trial that is too large for a request.
absl::StatusOr<std::vector<v1::ImportTrialsRequest>> ImportBatches(
    const v1::Study& study, const ImportedLines& read, const std::string& file);

struct ImportDone {
  std::int64_t imported = 0;
  std::int64_t already = 0;  // imported by an earlier, equal call
};

// Imports all trials. An error names FILE:LINE. If there are several batches,
// the coordinator checks the points of all of them before the first is
// imported.
absl::StatusOr<ImportDone> ImportAll(Client& client, const v1::Study& study,
                                     const ImportedLines& read,
                                     const std::string& file);

// Streams the exported trials to `take`, piece by piece. Ends with the first
// error of `take` or of the stream; the output is then incomplete.
absl::Status StreamTrials(
    Client& client, const v1::ExportTrialsRequest& request,
    const std::function<absl::Status(const std::string&)>& take);

// A file of points to run. It is a YAML list like `enqueue` in a study file,
// with or without that key, as `frostline study best --yaml` prints it; or JSON
// with one point a line. A point without any key of EnqueuedTrial is just a map
// of values.

struct EnqueuePoints {
  std::vector<v1::EnqueuedTrial> trials;
  std::vector<YamlMark> places;  // the place of each point
};

// Parses such a file. Returns the errors of a study file, with
// FILE:LINE:COLUMN, and REQUEST_INVALID for a file without points.
absl::StatusOr<EnqueuePoints> ParseEnqueuePoints(const std::string& text,
                                                 const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_FILES_H_
