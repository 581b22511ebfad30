// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/table_look.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/registry/registry.h"
#include "worker/trainer/data/conllu.h"
#include "worker/trainer/data/field_splitter.h"
#include "worker/trainer/data/format_name.h"

namespace frostline::registry {
namespace {

using trainer::FileFormat;
using trainer::InputFile;
using trainer::LineReader;
using Kind = FileFormat::Kind;

constexpr std::size_t kRowsLookedAt = 200;
constexpr std::size_t kRowsForDelimiter = 20;

struct Conversion {
  const char* ending;
  const char* what;
  const char* command;  // $F is the file, $B the same without its ending
};

constexpr std::array<Conversion, 9> kConversions = {{
    {".parquet", "Parquet",
     "python -c \"import pandas; pandas.read_parquet('$F').to_json('$B.jsonl', "
     "orient='records', lines=True)\""},
    {".arrow", "an Arrow file",
     "python -c \"import datasets; "
     "datasets.Dataset.from_file('$F').to_json('$B.jsonl')\""},
    {".feather", "Feather",
     "python -c \"import pandas; pandas.read_feather('$F').to_json('$B.jsonl', "
     "orient='records', lines=True)\""},
    {".xlsx", "a spreadsheet",
     "python -c \"import pandas; pandas.read_excel('$F').to_csv('$B.csv', "
     "index=False)\""},
    {".xls", "a spreadsheet",
     "python -c \"import pandas; pandas.read_excel('$F').to_csv('$B.csv', "
     "index=False)\""},
    {".pkl", "a pickle, which runs code when it is read",
     "python -c \"import pandas; pandas.read_pickle('$F').to_csv('$B.csv', "
     "index=False)\""},
    {".gz", "compressed", "gunzip -k '$F'"},
    {".zst", "compressed", "zstd -d '$F'"},
    {".zip", "an archive", "unzip '$F'"},
}};

std::string EndingOf(const std::string& path) {
  return absl::AsciiStrToLower(
      std::filesystem::path(path).extension().string());
}

absl::Status Convert(const std::string& path, const std::string& what,
                     const std::string& command) {
  std::string base = path;
  base.resize(base.size() - EndingOf(path).size());
  return MakeError(
      ErrorId::kTrainerUnsupported,
      absl::StrCat(path, " is ", what, ", which is not read here"),
      absl::StrCat("make rows of it: ",
                   absl::StrReplaceAll(command, {{"$F", path}, {"$B", base}})));
}

absl::StatusOr<LineReader> OpenLines(const std::string& path) {
  Expected<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return ErrorOf(file.fault());
  return LineReader(std::move(file).value());
}

// The header, or the first row; what else the rows look like is in `widths`.
absl::StatusOr<std::vector<std::string>> FirstFields(
    const std::string& path, char delimiter, bool quotes,
    std::vector<std::size_t>* widths) {
  ASSIGN_OR_RETURN(LineReader lines, OpenLines(path));
  trainer::FieldSplitter splitter(delimiter, quotes);
  std::vector<std::string_view> fields;
  std::vector<std::string> first;
  for (std::size_t row = 0; row < kRowsForDelimiter; ++row) {
    const Expected<bool> more = splitter.Next(lines, fields);
    if (!more.ok()) return ErrorOf(more.fault());
    if (!more.value()) break;
    if (row == 0) first.assign(fields.begin(), fields.end());
    widths->push_back(fields.size());
  }
  if (!first.empty()) return first;
  return MakeError(ErrorId::kTrainerMismatch, path + ": has no rows",
                   "give a file with at least one row");
}

// The delimiter that gives every row the same number of fields, the most.
absl::StatusOr<char> FindDelimiter(const std::string& path) {
  char best = ',';
  std::size_t most = 1;
  for (const char candidate : {',', ';', '\t', '|'}) {
    std::vector<std::size_t> widths;
    const auto first = FirstFields(path, candidate, /*quotes=*/true, &widths);
    if (!first.ok()) continue;  // a quote that it cannot make sense of
    const bool even =
        std::all_of(widths.begin(), widths.end(),
                    [&](std::size_t width) { return width == widths.front(); });
    if (!even || widths.front() <= most) continue;
    best = candidate;
    most = widths.front();
  }
  return best;
}

absl::StatusOr<char> ReadDelimiter(const std::string& text) {
  if (text == "tab") return '\t';
  if (text.size() == 1 && text != "\"") return text.front();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("--delimiter is '", text, "'"),
                   "give one character, or tab");
}

absl::StatusOr<Kind> ReadKind(const std::string& name,
                              const std::string& path) {
  if (const auto kind = trainer::ParseFormatName(name)) return *kind;
  return MakeError(ErrorId::kRequestInvalid,
                   name.empty()
                       ? absl::StrCat(path, " has a name that tells no format")
                       : absl::StrCat("--format is '", name, "'"),
                   "give --format tsv, csv, jsonl or conllu");
}

absl::StatusOr<std::vector<ColumnLook>> DelimitedColumns(
    const std::string& path, const TableHints& hints, FileFormat& format) {
  format.header = hints.has_header;
  if (!hints.delimiter.empty()) {
    ASSIGN_OR_RETURN(format.delimiter, ReadDelimiter(hints.delimiter));
    format.kind = Kind::kCsv;
  } else if (format.kind == Kind::kCsv) {
    ASSIGN_OR_RETURN(format.delimiter, FindDelimiter(path));
  }
  const bool tabs = format.kind == Kind::kTsv;
  std::vector<std::size_t> widths;
  ASSIGN_OR_RETURN(
      const std::vector<std::string> first,
      FirstFields(path, tabs ? '\t' : format.delimiter, !tabs, &widths));
  std::vector<ColumnLook> columns;
  columns.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    columns.push_back(
        {hints.has_header ? first[i] : absl::StrCat(i + 1), false, {}});
  }
  return columns;
}

// Members of another form than a row may have are passed over.
bool IsCell(const JsonValue& value, bool* is_list) {
  *is_list = value.is(JsonKind::kArray);
  if (!*is_list) return !value.is(JsonKind::kObject);
  for (const JsonValue* item = value.first; item; item = item->next) {
    if (!item->is(JsonKind::kString)) return false;
  }
  return true;
}

absl::StatusOr<std::vector<ColumnLook>> JsonColumns(const std::string& path) {
  ASSIGN_OR_RETURN(LineReader lines, OpenLines(path));
  std::string_view line;
  do {
    const Expected<bool> more = lines.Next(line);
    if (!more.ok()) return ErrorOf(more.fault());
    if (!more.value()) {
      return MakeError(ErrorId::kTrainerMismatch, path + ": has no rows",
                       "give a file with at least one row");
    }
  } while (Trimmed(line).empty());
  if (Trimmed(line).front() == '[') {
    return Convert(path, "one JSON array",
                   "jq -c '.[]' '$F' >'$B.jsonl', or python -c \"import "
                   "pandas; pandas.read_json('$F').to_json('$B.jsonl', "
                   "orient='records', lines=True)\"");
  }
  const Expected<Json> parsed = Json::Parse(line);
  if (!parsed.ok() || !parsed.value().root().is(JsonKind::kObject)) {
    return ErrorOf(
        lines.Here(FaultKind::kSyntax, "is not a JSON object",
                   "write one object a line: {\"text\": …, \"label\": …}"));
  }
  std::vector<ColumnLook> columns;
  for (const JsonValue* member = parsed.value().root().first; member != nullptr;
       member = member->next) {
    bool is_list = false;
    if (!IsCell(*member, &is_list)) continue;
    columns.push_back({std::string(member->key), is_list, {}});
  }
  return columns;
}

absl::Status TakeValues(const std::string& path, TableLook& look) {
  std::vector<std::string> names;
  for (const ColumnLook& column : look.columns) {
    // Two columns of one name can be had by number alone.
    const auto same = [&](const ColumnLook& c) {
      return c.name == column.name;
    };
    const bool twice =
        std::count_if(look.columns.begin(), look.columns.end(), same) > 1;
    names.push_back(twice ? absl::StrCat(names.size() + 1) : column.name);
  }
  Expected<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return ErrorOf(file.fault());
  const auto rows =
      trainer::OpenRows(std::move(file).value(), look.format, names);
  if (!rows.ok()) return ErrorOf(rows.fault());
  trainer::Row row;
  for (std::size_t count = 0; count < kRowsLookedAt; ++count) {
    const Expected<bool> more = rows.value()->Next(row);
    if (!more.ok()) return ErrorOf(more.fault());
    if (!more.value()) break;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      ColumnLook& column = look.columns[i];
      column.is_list = column.is_list || row.cells[i].is_list;
      if (!column.is_list) column.values.emplace_back(row.cells[i].text);
    }
  }
  return absl::OkStatus();
}

}  // namespace

const ColumnLook* TableLook::Find(const std::string& name) const {
  for (const ColumnLook& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::string FormatOfName(const std::string& path) {
  const std::string ending = EndingOf(path);
  if (ending == ".csv") return "csv";
  if (ending == ".tsv" || ending == ".tab") return "tsv";
  if (ending == ".jsonl" || ending == ".ndjson" || ending == ".json") {
    return "jsonl";
  }
  return ending == ".conllu" || ending == ".conll" ? "conllu" : "";
}

std::optional<absl::Status> NoTable(const std::string& path) {
  for (const Conversion& conversion : kConversions) {
    if (EndingOf(path) == conversion.ending) {
      return Convert(path, conversion.what, conversion.command);
    }
  }
  return std::nullopt;
}

absl::StatusOr<TableLook> LookAtTable(const std::string& path,
                                      const TableHints& hints) {
  if (const auto refused = NoTable(path); refused && hints.format.empty()) {
    return *refused;
  }
  TableLook look;
  const std::string name =
      hints.format.empty() ? FormatOfName(path) : hints.format;
  ASSIGN_OR_RETURN(look.format.kind, ReadKind(name, path));
  look.is_delimited =
      look.format.kind == Kind::kTsv || look.format.kind == Kind::kCsv;
  if (look.is_delimited) {
    ASSIGN_OR_RETURN(look.columns, DelimitedColumns(path, hints, look.format));
  } else if (look.format.kind == Kind::kJsonl) {
    ASSIGN_OR_RETURN(look.columns, JsonColumns(path));
  } else {
    for (const char* const column :
         {"id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel",
          "deps", "misc"}) {
      look.columns.push_back({column, true, {}});
    }
  }
  RETURN_IF_ERROR(TakeValues(path, look));
  return look;
}

}  // namespace frostline::registry
