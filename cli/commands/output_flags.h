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

// Add `--format` and `--json`, which is `--format json`. `output` outlives the
// verb: it is a member of the verb's arguments.
void AddOneFormats(CLI::App* verb,
                   Output& output);  // table json jsonl yaml name
// The same, and wide, csv, `--columns`, `--sort`.
void AddListFormats(CLI::App* verb, Output& output);

// `--wide`, which is `--format wide`, beside them where it has always been.
void AddWide(CLI::App* verb, Output& output, const std::string& help);

// Whether a command line asks for JSON, however wrong it is otherwise: then an
// error is JSON too.
bool AsksForJson(const std::vector<std::string>& arguments);
// Standard error has nothing but errors from then on (client/notes.h).
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
  // Answers REQUEST_INVALID for a --top that is no share.
  absl::StatusOr<v1::ImportanceOptions> Options() const;
};

struct OutputFlags {
  std::string format;  // empty: as the file's name ends
  bool json = false;
  std::string file;
  std::vector<std::string> formats;  // that the verb has

  void AddTo(CLI::App& verb, const std::vector<std::string>& known);
  // "table" where neither a flag nor the file's name says another.
  std::string Format() const;
  // Answers REQUEST_INVALID where the name ends in a format that the verb does
  // not have.
  absl::Status Check() const;
  // Writes to the file, or standard output; failing that is REQUEST_INVALID.
  absl::Status Write(const std::string& text) const;
};

// Whether any message can be written in this format; and it is.
bool IsForMessages(const std::string& format);
std::string InFormat(const std::string& format,
                     const google::protobuf::Message& message);

// Reads "10%" or "0.1", above 0 and at most 1.
absl::StatusOr<double> ParseShare(const std::string& text);

// Splits names at commas. It answers REQUEST_INVALID where one is missing.
absl::StatusOr<v1::ParameterSubset> ParseSubset(const std::string& names);

// Makes a mistake in a flag that only the coordinator could see one of use, not
// of a file: exit code 2.
absl::Status AsUsage(const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_OUTPUT_FLAGS_H_
