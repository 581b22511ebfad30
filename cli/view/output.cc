// SPDX-License-Identifier: Apache-2.0
#include "cli/view/output.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/term/terminal.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::ListValue;
using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

std::vector<const FieldDescriptor*> ListFields(const Message& list) {
  std::vector<const FieldDescriptor*> fields;
  const auto* const type = list.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    if (field->is_repeated() && !field->is_map() &&
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      fields.push_back(field);
    }
  }
  return fields;
}

std::map<std::string, const ListValue*> ListsIn(const Struct& fields) {
  std::map<std::string, const ListValue*> lists;
  for (const auto& [key, value] : fields.fields()) {
    if (value.has_list_value()) lists[key] = &value.list_value();
  }
  return lists;
}

// An item and its list, by the index among the lists.
struct Item {
  const Message* message;
  const FieldDescriptor* field;  // null in a Struct
  std::string key;               // of a Struct
};

std::vector<Item> AllItems(const Message& list) {
  std::vector<Item> items;
  if (const auto* const fields = dynamic_cast<const Struct*>(&list)) {
    for (const auto& [key, values] : ListsIn(*fields)) {
      for (const Value& value : values->values()) {
        items.push_back({&value, nullptr, key});
      }
    }
    return items;
  }
  const auto* const reflection = list.GetReflection();
  for (const FieldDescriptor* const field : ListFields(list)) {
    for (int i = 0; i < reflection->FieldSize(list, field); ++i) {
      items.push_back(
          {&reflection->GetRepeatedMessage(list, field, i), field, ""});
    }
  }
  return items;
}

std::string ItemTextOf(const Message& item, const std::string& name) {
  if (const auto* const value = dynamic_cast<const Value*>(&item)) {
    const auto& fields = value->struct_value().fields();
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second.string_value();
  }
  const FieldDescriptor* const field =
      item.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() ||
      field->type() != FieldDescriptor::TYPE_STRING) {
    return "";
  }
  return item.GetReflection()->GetString(item, field);
}

}  // namespace

std::vector<const Message*> ItemsOf(const Message& list) {
  std::vector<const Message*> messages;
  for (const Item& item : AllItems(list)) messages.push_back(item.message);
  return messages;
}

std::unique_ptr<Message> WithItems(const Message& list,
                                   const std::vector<std::size_t>& places) {
  const std::vector<Item> items = AllItems(list);
  std::unique_ptr<Message> chosen(list.New());
  chosen->CopyFrom(list);
  if (auto* const fields = dynamic_cast<Struct*>(chosen.get())) {
    auto& map = *fields->mutable_fields();
    for (auto& [key, value] : map) {
      if (value.has_list_value()) value.mutable_list_value()->Clear();
    }
    for (const std::size_t place : places) {
      map[items[place].key].mutable_list_value()->add_values()->CopyFrom(
          *items[place].message);
    }
    return chosen;
  }
  const auto* const reflection = chosen->GetReflection();
  for (const FieldDescriptor* const field : ListFields(list)) {
    reflection->ClearField(chosen.get(), field);
  }
  for (const std::size_t place : places) {
    reflection->AddMessage(chosen.get(), items[place].field)
        ->CopyFrom(*items[place].message);
  }
  return chosen;
}

std::string NameOfItem(const Message& item) {
  for (const char* const field : {"name", "id", "sha256"}) {
    const std::string name = ItemTextOf(item, field);
    if (!name.empty()) return name;
  }
  return "";
}

namespace {

constexpr std::size_t kMaxWord = 100;

bool IsTabular(Format format) {
  return format == Format::kTable || format == Format::kWide ||
         format == Format::kCsv;
}

absl::StatusOr<std::size_t> FindColumn(const Table& table,
                                       const std::string& column,
                                       const std::string& flag) {
  const auto found = table.Find(column);
  if (found.has_value()) return *found;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("there is no column '",
                                proto::CleanText(column, kMaxWord), "'"),
                   Suggest(column, table.Names()), flag);
}

// Returns the indexes of the requested rows in the requested order.
absl::StatusOr<std::vector<std::size_t>> Rows(const Output& output,
                                              const Table& table) {
  std::vector<std::size_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (!output.sort.empty()) {
    const bool highest_first = absl::StartsWith(output.sort, "-");
    const std::string column = output.sort.substr(highest_first ? 1 : 0);
    ASSIGN_OR_RETURN(const std::size_t place,
                     FindColumn(table, column, "sort"));
    rows = table.Order(place, highest_first);
  }
  const auto limit = static_cast<std::size_t>(output.limit);
  if (limit > 0 && limit < rows.size()) rows.resize(limit);
  return rows;
}

absl::StatusOr<std::vector<std::size_t>> Columns(const Output& output,
                                                 const Table& table) {
  std::vector<std::size_t> places;
  for (const std::string& column : output.columns) {
    ASSIGN_OR_RETURN(const std::size_t place,
                     FindColumn(table, column, "columns"));
    places.push_back(place);
  }
  return places;
}

absl::StatusOr<std::string> Names(const std::vector<const Message*>& items) {
  std::string text;
  for (const Message* const item : items) {
    const std::string name = NameOfItem(*item);
    if (name.empty()) {
      return MakeError(ErrorId::kRequestInvalid, "what is shown has no names",
                       "use --format json", "format");
    }
    absl::StrAppend(&text, proto::CleanText(name, proto::kMaxCauseBytes), "\n");
  }
  return text;
}

// Returns a list in a format for programs.
absl::StatusOr<std::string> ListText(Format format, const Message& list) {
  if (format == Format::kName) return Names(ItemsOf(list));
  if (format != Format::kJsonLines) return MessageText(format, list);
  std::string lines;
  for (const Message* const item : ItemsOf(list)) lines += ToJsonLine(*item);
  return lines;
}

// Returns the table as it fits the terminal, and below it what did not.
std::string NarrowText(const Terminal& terminal, const Table& table) {
  const std::vector<std::string> out = table.LeftOut(terminal.width);
  std::string text = table.Render(terminal.width);
  if (out.empty()) return text;
  return absl::StrCat(
      text, WrapText(absl::StrCat("too wide for this terminal: ",
                                  absl::StrJoin(out, ", "),
                                  "; --format wide shows all columns, "
                                  "--columns those that are named"),
                     terminal.width));
}

// Returns a table of the requested rows and columns; a wide one is not cut.
absl::StatusOr<std::string> TableText(const Terminal& terminal,
                                      const Output& output, const Table& table,
                                      const Table& all) {
  if (!output.columns.empty()) {
    ASSIGN_OR_RETURN(const auto columns, Columns(output, all));
    const Table chosen = all.WithColumns(columns);
    return output.format == Format::kCsv ? chosen.Csv()
                                         : chosen.Render(terminal.width);
  }
  if (output.format == Format::kCsv) return all.Csv();
  const bool wide = output.format == Format::kWide;
  return wide ? table.Render() : NarrowText(terminal, table);
}

absl::Status CheckColumns(const Output& output) {
  if (output.columns.empty() || IsTabular(output.format)) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("--columns chooses columns of tables; --format ",
                   FormatName(output.format), " has none"),
      "leave --columns out, or use --format csv", "columns");
}

// Returns the names in the order of Format.
const std::vector<std::string>& AllFormats() {
  static const auto* const names = new std::vector<std::string>{
      "table", "wide", "json", "jsonl", "yaml", "csv", "name", "svg"};
  return *names;
}

google::protobuf::Struct FieldsOfJson(const std::string& json) {
  google::protobuf::Struct fields;
  // It is our own text, so that nothing can fail.
  (void)google::protobuf::util::JsonStringToMessage(json, &fields);
  return fields;
}

}  // namespace

const std::string& FormatName(Format format) {
  return AllFormats()[static_cast<std::size_t>(format)];
}

std::optional<Format> FormatNamed(const std::string& name) {
  const auto& names = AllFormats();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Format>(found - names.begin());
}

bool IsForMessages(Format format) {
  return format == Format::kJson || format == Format::kJsonLines ||
         format == Format::kYaml;
}

std::string MessageText(Format format, const Message& message) {
  if (format == Format::kYaml) return ToYaml(message);
  return format == Format::kJson ? ToJson(message) : ToJsonLine(message);
}

absl::Status WriteText(const Output& output, const std::string& text) {
  if (!IsStandardOutput(output.file)) return WriteTextFile(output.file, text);
  std::cout << text;
  return absl::OkStatus();
}

absl::Status WriteOne(const Output& output, const Message& one,
                      const std::string& text, const std::string& csv,
                      const std::string& svg) {
  const Format format = output.format;
  return WriteText(output, IsForMessages(format)    ? MessageText(format, one)
                           : format == Format::kCsv ? csv
                           : format == Format::kSvg ? svg
                                                    : text);
}

absl::StatusOr<ExitCode> PrintOne(const Terminal& terminal,
                                  const Output& output, const Message& one,
                                  const std::function<std::string()>& text) {
  if (output.format == Format::kCsv) {
    return MakeError(ErrorId::kRequestInvalid, "CSV is for lists",
                     "use --format json", "format");
  }
  std::string said;
  if (IsForMessages(output.format)) {
    said = MessageText(output.format, one);
  } else if (output.format == Format::kName) {
    ASSIGN_OR_RETURN(said, Names({&one}));
  } else {
    said = text();
  }
  PrintPaged(terminal, said);
  return kExitOk;
}

absl::StatusOr<ExitCode> PrintList(const Terminal& terminal,
                                   const Output& output, const Message& list,
                                   const std::function<Table(bool wide)>& table,
                                   const std::string& none) {
  RETURN_IF_ERROR(CheckColumns(output));
  const bool chooses = !output.sort.empty() || output.limit > 0;
  const bool is_table = IsTabular(output.format);
  if (!is_table && !chooses) {
    ASSIGN_OR_RETURN(const std::string text, ListText(output.format, list));
    PrintPaged(terminal, text);
    return kExitOk;
  }
  const bool narrow =
      output.format == Format::kTable && !chooses && output.columns.empty();
  const Table all = table(!narrow);
  ASSIGN_OR_RETURN(const std::vector<std::size_t> rows, Rows(output, all));
  std::string text;
  if (!is_table) {
    ASSIGN_OR_RETURN(text, ListText(output.format, *WithItems(list, rows)));
  } else if (narrow) {
    text = NarrowText(terminal, all);
  } else {
    // A copy of many rows takes its time, and is made where rows are chosen.
    std::optional<Table> some;
    if (chooses) some = all.WithRows(rows);
    const Table& chosen = some.has_value() ? *some : all;
    std::optional<Table> small;
    if (output.format == Format::kTable) small = table(false).WithRows(rows);
    ASSIGN_OR_RETURN(
        text, TableText(terminal, output, small.has_value() ? *small : chosen,
                        chosen));
  }
  if (rows.empty() && is_table && output.format != Format::kCsv) {
    std::cerr << none << "\n";
  } else {
    PrintPaged(terminal, text);
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> PrintOneJson(
    const Terminal& terminal, const Output& output, const std::string& json,
    const std::function<std::string()>& text) {
  if (output.format == Format::kJson) {
    PrintPaged(terminal, json);
    return kExitOk;
  }
  return PrintOne(terminal, output, FieldsOfJson(json), text);
}

absl::StatusOr<ExitCode> PrintListJson(
    const Terminal& terminal, const Output& output, const std::string& json,
    const std::function<Table(bool wide)>& table, const std::string& none) {
  const bool as_it_is = output.format == Format::kJson && output.sort.empty() &&
                        output.limit == 0 && output.columns.empty();
  if (as_it_is) {
    PrintPaged(terminal, json);
    return kExitOk;
  }
  return PrintList(terminal, output, FieldsOfJson(json), table, none);
}

}  // namespace frostline::cli
