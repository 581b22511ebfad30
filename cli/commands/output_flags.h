// SPDX-License-Identifier: Apache-2.0
//
// File: output_flags.h
#ifndef FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_
#define FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/view/output.h"
#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// Adds `--format` and `--json`, which means `--format json`. `output` must
// outlive the verb: it is a member of the verb's arguments.
void AddOneFormats(CLI::App* verb,
                   Output& output);  // table json jsonl yaml name
// Does the same for lists, with wide, csv, `--columns` and `--sort` in
// addition.
void AddListFormats(CLI::App* verb, Output& output);

// Adds `--wide`, the older spelling of `--format wide`.
void AddWide(CLI::App* verb, Output& output, const std::string& help);

// Returns whether a command line asks for JSON, even if it is wrong otherwise.
// Errors are then JSON too.
bool AsksForJson(const std::vector<std::string>& arguments);
// Keeps standard error free of anything but errors from now on
// (client/notes.h).
void LeaveNotesOut();

struct QuestionFlags {
  std::string evaluator;
  std::string target;
  bool maximize = false;
  std::string top;
  std::string best_by;
  std::int64_t at_step = 0;
  std::string filter;
  std::uint64_t seed = 0;

  void AddTo(CLI::App& verb);
  // Returns REQUEST_INVALID when --top is not a share.
  absl::StatusOr<v1::ImportanceOptions> Options() const;
};

struct OutputFlags {
  std::string format;  // empty: from the file's extension
  bool json = false;
  std::string file;
  std::vector<std::string> formats;  // the formats of the verb

  void AddTo(CLI::App& verb, const std::vector<std::string>& known);
  // Returns the format from the flag or the file's extension, else "table".
  std::string Format() const;
  // Returns REQUEST_INVALID when the file's extension names a format that the
  // verb does not have.
  absl::Status Check() const;
  // Writes to the file or to standard output. Returns REQUEST_INVALID on
  // failure.
  absl::Status Write(const std::string& text) const;
};

// The first returns whether any message can be written in this format; the
// second writes a message in it.
bool IsForMessages(const std::string& format);
std::string InFormat(const std::string& format,
                     const google::protobuf::Message& message);

// Parses "10%" or "0.1". The value must be above 0 and at most 1.
absl::StatusOr<double> ParseShare(const std::string& text);

// Splits names at commas. Returns REQUEST_INVALID when one is empty.
absl::StatusOr<v1::ParameterSubset> ParseSubset(const std::string& names);

// Changes an error about a flag that only the coordinator could notice into a
// usage error (exit code 2) instead of an error about a file.
absl::Status AsUsage(const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_
