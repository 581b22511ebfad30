// SPDX-License-Identifier: Apache-2.0
//
// File: output.h
//
// One answer, as `--format` asks for it:
//
//   table  columns that fit the terminal     wide   all columns
//   json   the contract's message, indented  jsonl  an object a line
//   yaml   the same message                  csv    all columns, exact numbers
//   name   "studies/imdb", a line each
//
// A verb that answers with a list gives the message and a table of it; a verb
// that answers with one thing gives the message and a text of it.
#ifndef FROSTLINE_CLI_VIEW_OUTPUT_H_
#define FROSTLINE_CLI_VIEW_OUTPUT_H_

#include <google/protobuf/message.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

enum class Format { kTable, kWide, kJson, kJsonLines, kYaml, kCsv, kName };

struct Output {
  Format format = Format::kTable;
  // Titles of columns, as in the table but in any case; empty: the verb's own.
  std::vector<std::string> columns;
  std::string sort;  // a column's title; "-" before it: the highest first
};

// `text` is called for people alone.
absl::Status PrintOne(const Terminal& terminal, const Output& output,
                      const google::protobuf::Message& one,
                      const std::function<std::string()>& text);

// `list` has one repeated field of messages, whose elements are the rows of
// `table`, in their order. An empty list is said on standard error as `none`,
// for people alone. A column that there is not is a usage error.
absl::Status PrintList(const Terminal& terminal, const Output& output,
                       const google::protobuf::Message& list,
                       const std::function<Table(bool wide)>& table,
                       const std::string& none);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OUTPUT_H_
