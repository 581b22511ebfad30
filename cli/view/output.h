// SPDX-License-Identifier: Apache-2.0
//
// File: output.h
//
// The output of one answer in the format that `--format` asks for:
//
//   table  columns that fit the terminal     wide   all columns
//   json   the contract's message, indented  jsonl  an object a line
//   yaml   the same message                  csv    all columns, exact numbers
//   name   "studies/imdb", a line each
//   svg    a picture, of the few verbs that draw one
//
// A verb that answers with a list passes the message and a table of it. A verb
// that answers with one thing passes the message and a text of it. Output
// taller than the terminal is paged.
#ifndef FROSTLINE_CLI_VIEW_OUTPUT_H_
#define FROSTLINE_CLI_VIEW_OUTPUT_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// Lists are messages with repeated fields of messages, or a Struct with lists.
// Their items follow each other; those of a Struct are in the order of its
// keys.

// Returns the items, which are owned by the list.
std::vector<const google::protobuf::Message*> ItemsOf(
    const google::protobuf::Message& list);

// Returns a copy of the list with only the items at these indexes, in this
// order.
std::unique_ptr<google::protobuf::Message> WithItems(
    const google::protobuf::Message& list,
    const std::vector<std::size_t>& places);

// Returns its `name`, else its `id`, else its `sha256`, else "".
std::string NameOfItem(const google::protobuf::Message& item);

enum class Format {
  kTable,
  kWide,
  kJson,
  kJsonLines,
  kYaml,
  kCsv,
  kName,
  kSvg
};

// The format, columns and order that the user asks for.
struct Output {
  Format format = Format::kTable;
  // Titles of columns as in the table, in any case, or their names as in CSV
  // ("best_trial"). If empty, the verb decides.
  std::vector<std::string> columns;
  std::string sort;        // a column's title; "-" before it: descending
  std::int64_t limit = 0;  // the number of sorted items; 0: all
  std::string file;        // to write to; "" or "-": standard output
};

// Returns "table", "wide", …
const std::string& FormatName(Format format);
// Returns nothing when no format has this name.
std::optional<Format> FormatNamed(const std::string& name);

// The first returns whether any message can be written in this format; the
// second writes a message in it.
bool IsForMessages(Format format);
std::string MessageText(Format format,
                        const google::protobuf::Message& message);

// Writes one thing, unpaged, to the file that is asked for.
absl::Status WriteText(const Output& output, const std::string& text);
absl::Status WriteOne(const Output& output,
                      const google::protobuf::Message& one,
                      const std::string& text, const std::string& csv,
                      const std::string& svg = "");

// Prints one thing, and returns kExitOk. `text` is called only for formats for
// people. The name of a Struct is its key "name".
absl::StatusOr<ExitCode> PrintOne(const Terminal& terminal,
                                  const Output& output,
                                  const google::protobuf::Message& one,
                                  const std::function<std::string()>& text);

// Prints a list. `list` has one repeated field of messages (or is a Struct with
// one list), and its elements are the rows of `table`, in order. If it is
// empty, `none` is printed on standard error, only in formats for people. An
// unknown column is a usage error.
absl::StatusOr<ExitCode> PrintList(const Terminal& terminal,
                                   const Output& output,
                                   const google::protobuf::Message& list,
                                   const std::function<Table(bool wide)>& table,
                                   const std::string& none);

// These do the same for JSON that is not a message of the contract: an object,
// or one with a single list. `--format json` prints the text unchanged.
absl::StatusOr<ExitCode> PrintOneJson(const Terminal& terminal,
                                      const Output& output,
                                      const std::string& json,
                                      const std::function<std::string()>& text);
absl::StatusOr<ExitCode> PrintListJson(
    const Terminal& terminal, const Output& output, const std::string& json,
    const std::function<Table(bool wide)>& table, const std::string& none);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OUTPUT_H_
