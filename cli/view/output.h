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
// that answers with one thing gives the message and a text of it. What is
// taller than a terminal is paged.
#ifndef FROSTLINE_CLI_VIEW_OUTPUT_H_
#define FROSTLINE_CLI_VIEW_OUTPUT_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

// A list is a message with repeated fields of messages, or a Struct with lists.
// Their items follow each other, those of a Struct in the order of its keys.

// They live as long as the list.
std::vector<const google::protobuf::Message*> ItemsOf(
    const google::protobuf::Message& list);

// The same list with the items of these places alone, in this order.
std::unique_ptr<google::protobuf::Message> WithItems(
    const google::protobuf::Message& list,
    const std::vector<std::size_t>& places);

// Its `name`, else its `id`, else its `sha256`; "" where it has none.
std::string NameOfItem(const google::protobuf::Message& item);

enum class Format { kTable, kWide, kJson, kJsonLines, kYaml, kCsv, kName };

struct Output {
  Format format = Format::kTable;
  // Titles of columns, as in the table but in any case, or their names, as CSV
  // has them ("best_trial"); empty: the verb's own.
  std::vector<std::string> columns;
  std::string sort;        // a column's title; "-" before it: the highest first
  std::int64_t limit = 0;  // so many of what is sorted; 0: all
};

// "table", "wide", …, in the order of Format.
const std::vector<std::string>& FormatNames();

// `text` is called for people alone. Of a Struct the name is its key "name".
absl::Status PrintOne(const Terminal& terminal, const Output& output,
                      const google::protobuf::Message& one,
                      const std::function<std::string()>& text);

// `list` has one repeated field of messages (or is a Struct with one list),
// whose elements are the rows of `table`, in their order. An empty list is said
// on standard error as `none`, for people alone. A column that there is not is
// a usage error.
absl::Status PrintList(const Terminal& terminal, const Output& output,
                       const google::protobuf::Message& list,
                       const std::function<Table(bool wide)>& table,
                       const std::string& none);

// The same of JSON that is no message of the contract but a text of its own, an
// object, in a list with one list: `--format json` prints it as it is.
absl::Status PrintOneJson(const Terminal& terminal, const Output& output,
                          const std::string& json,
                          const std::function<std::string()>& text);
absl::Status PrintListJson(const Terminal& terminal, const Output& output,
                           const std::string& json,
                           const std::function<Table(bool wide)>& table,
                           const std::string& none);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OUTPUT_H_
