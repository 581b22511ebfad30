// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/file.h"
#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/registry/check.h"
#include "worker/registry/first_line.h"
#include "worker/registry/registry.h"
#include "worker/trainer/data/row_source.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/limits.h"

namespace frostline::registry {
namespace {

using trainer::FileFormat;
using trainer::InputFile;
using trainer::LineReader;
using Kind = FileFormat::Kind;
using Fields = std::vector<std::vector<std::string>>;  // of lines

constexpr std::size_t kRowsLookedAt = 200;
constexpr std::size_t kRowsForDelimiter = 20;
constexpr std::size_t kNamesShown = 12;

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

// Returns the first lines, at least one.
absl::StatusOr<Fields> FirstLines(const std::string& path, char delimiter,
                                  bool quotes, std::size_t most) {
  ASSIGN_OR_RETURN(LineReader lines, OpenLines(path));
  trainer::FieldSplitter splitter(delimiter, quotes);
  std::vector<std::string_view> fields;
  Fields first;
  while (first.size() < most) {
    const Expected<bool> more = splitter.Next(lines, fields);
    if (!more.ok()) return ErrorOf(more.fault());
    if (!more.value()) break;
    first.emplace_back(fields.begin(), fields.end());
  }
  if (!first.empty()) return first;
  return MakeError(ErrorId::kTrainerMismatch, path + ": has no rows",
                   "give a file with at least one row");
}

// Returns the delimiter with which all rows have the same number of fields, the
// largest such number.
absl::StatusOr<char> FindDelimiter(const std::string& path) {
  char best = ',';
  std::size_t most = 1;
  for (const char candidate : {',', ';', '\t', '|'}) {
    const auto lines =
        FirstLines(path, candidate, /*quotes=*/true, kRowsForDelimiter);
    if (!lines.ok()) continue;  // a quote that it cannot make sense of
    const std::size_t width = lines->front().size();
    const bool even = std::ranges::all_of(
        *lines, [&](const auto& fields) { return fields.size() == width; });
    if (!even || width <= most) continue;
    best = candidate;
    most = width;
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

std::string ListOf(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", Shown(names[i]));
  }
  return names.size() > kNamesShown ? list + ", …" : list;
}

absl::StatusOr<bool> HasHeader(const std::string& path, const Fields& lines,
                               const TableHints& hints) {
  if (hints.has_header) return *hints.has_header;
  switch (JudgeFirstLine(lines, hints.named)) {
    case FirstLine::kNames:
      return true;
    case FirstLine::kRow:
      return false;
    case FirstLine::kUnclear:
      break;
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(path,
                   ": does its first line name the columns, or is it a "
                   "row? It is ",
                   ListOf(lines.front())),
      "say which: --header where it names them, --no-header where it is a row");
}

// Returns whether the first rows are as wide as one another only if what stands
// in quotes may hold tabs, as spreadsheets write it.
bool QuotesTabs(const std::string& path) {
  const auto are_even = [&](bool quotes) {
    const auto lines = FirstLines(path, '\t', quotes, kRowsLookedAt);
    return lines.ok() && lines->front().size() > 1 &&
           std::ranges::all_of(*lines, [&](const auto& fields) {
             return fields.size() == lines->front().size();
           });
  };
  return !are_even(/*quotes=*/false) && are_even(/*quotes=*/true);
}

absl::Status TakeDelimited(const std::string& path, const TableHints& hints,
                           TableLook& look) {
  FileFormat& format = look.format;
  if (!hints.delimiter.empty()) {
    ASSIGN_OR_RETURN(format.delimiter, ReadDelimiter(hints.delimiter));
    format.kind = Kind::kCsv;
  } else if (format.kind == Kind::kCsv) {
    ASSIGN_OR_RETURN(format.delimiter, FindDelimiter(path));
  }
  if (format.kind == Kind::kTsv && hints.format.empty() && QuotesTabs(path)) {
    format.kind = Kind::kCsv;
    format.delimiter = '\t';
  }
  const bool tabs = format.kind == Kind::kTsv;
  ASSIGN_OR_RETURN(
      const Fields lines,
      FirstLines(path, tabs ? '\t' : format.delimiter, !tabs, kRowsLookedAt));
  ASSIGN_OR_RETURN(format.header, HasHeader(path, lines, hints));
  look.is_header_guessed = !hints.has_header.has_value();
  const std::vector<std::string>& first = lines.front();
  for (std::size_t i = 0; i < first.size(); ++i) {
    look.columns.push_back(
        {format.header ? first[i] : absl::StrCat(i + 1), false, {}});
  }
  return absl::OkStatus();
}

// Says whether a member may be a cell of a row; others are ignored.
bool IsCell(const JsonValue& value, bool* is_list) {
  *is_list = value.is(JsonKind::kArray);
  if (!*is_list) return !value.is(JsonKind::kObject);
  for (const JsonValue* item = value.first; item; item = item->next) {
    if (!item->is(JsonKind::kString)) return false;
  }
  return true;
}

// Adds a column for each key of an object that has none yet.
void AddKeys(const JsonValue& object, std::vector<ColumnLook>* columns) {
  for (const JsonValue* member = object.first; member != nullptr;
       member = member->next) {
    const bool is_known = std::ranges::any_of(
        *columns, [&](const ColumnLook& c) { return c.name == member->key; });
    bool is_list = false;
    if (is_known || !IsCell(*member, &is_list)) continue;
    columns->push_back({std::string(member->key), is_list, {}});
  }
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
  AddKeys(parsed.value().root(), &columns);
  // A row may lack a key, its label for instance. What is wrong in a later line
  // is said with the rows.
  for (std::size_t rows = 1; rows < kRowsLookedAt; ++rows) {
    const Expected<bool> more = lines.Next(line);
    if (!more.ok() || !more.value()) break;
    const Expected<Json> later = Json::Parse(line);
    if (later.ok()) AddKeys(later.value().root(), &columns);
  }
  return columns;
}

absl::Status TakeValues(const std::string& path, TableLook& look) {
  std::vector<std::string> names;
  for (const ColumnLook& column : look.columns) {
    // Of two columns with one name, each can be named only by its number.
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

TableHints WithNames(TableHints hints, const trainer::ColumnMap& columns) {
  for (const auto& [role, column] : columns) hints.named.push_back(column);
  return hints;
}

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

// Returns the format of a file whose name tells none, such as `reviews.txt`, or
// "". A comma tells nothing: prose has it too.
std::string FormatOfFirstLine(const std::string& path) {
  constexpr std::ptrdiff_t kTabsOfConllu = 9;
  std::ifstream file(path);
  std::string line(4096, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  if (absl::StartsWith(line, "{")) return "jsonl";
  if (tabs == kTabsOfConllu || absl::StartsWith(line, "# sent_id")) {
    return "conllu";
  }
  return tabs > 0 ? "tsv" : "";
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
  std::string name = hints.format.empty() ? FormatOfName(path) : hints.format;
  if (name.empty()) name = FormatOfFirstLine(path);
  ASSIGN_OR_RETURN(look.format.kind, ReadKind(name, path));
  look.is_delimited =
      look.format.kind == Kind::kTsv || look.format.kind == Kind::kCsv;
  if (look.is_delimited) {
    RETURN_IF_ERROR(TakeDelimited(path, hints, look));
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

namespace {

using trainer::ColumnMap;
using trainer::TaskKind;
using GuessedNames = std::vector<std::string>;

constexpr std::size_t kMostPlainClasses = 20;
constexpr double kTextLength = 20.0;  // bytes, where no name tells

// Returns the names, or the numbers with the first row's values.
std::string ListOf(const TableLook& look) {
  std::vector<std::string> names;
  names.reserve(look.columns.size());
  for (const ColumnLook& column : look.columns) names.push_back(column.name);
  if (look.format.header || !look.is_delimited) return ListOf(names);
  std::string list;
  for (const ColumnLook& column : look.columns) {
    if (column.values.empty()) continue;
    absl::StrAppend(&list, list.empty() ? "" : ", ", column.name, " (",
                    Shown(column.values.front()), ")");
  }
  return list;
}

absl::Status Ask(const std::string& path, const TableLook& look,
                 const std::string& role, const std::string& what) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(path, ": which column holds ", what,
                                "? It has ", ListOf(look)),
                   look.format.header
                       ? absl::StrCat("name it: --", role, " COL")
                       : absl::StrCat("give its number: --", role, " N"));
}

absl::Status CheckColumn(const std::string& path, const TableLook& look,
                         const std::string& role, const std::string& column) {
  if (look.Find(column) != nullptr) return absl::OkStatus();
  double number = ParseNumber(column).value_or(0.0);
  const bool counts = look.is_delimited && number >= 1.0 &&
                      number <= static_cast<double>(look.columns.size()) &&
                      std::trunc(number) == number;
  if (counts) return absl::OkStatus();
  GuessedNames names;
  for (const ColumnLook& known : look.columns) names.push_back(known.name);
  const std::string near = Nearest(column, names);
  return MakeError(ErrorId::kTrainerMismatch,
                   absl::StrCat(path, " has no column ", Shown(column),
                                "; it has ", ListOf(look)),
                   near.empty()
                       ? absl::StrCat("name one of these: --", role, " COL")
                       : absl::StrCat("did you mean --", role, " ", near, "?"));
}

const ColumnLook* ByName(const TableLook& look, const GuessedNames& usual,
                         const ColumnMap& taken) {
  for (const std::string& name : usual) {
    for (const ColumnLook& column : look.columns) {
      if (absl::AsciiStrToLower(column.name) != name) continue;
      const bool is_taken = std::any_of(
          taken.begin(), taken.end(),
          [&](const auto& entry) { return entry.second == column.name; });
      if (!is_taken) return &column;
    }
  }
  return nullptr;
}

double MeanLength(const ColumnLook& column) {
  double sum = 0.0;
  for (const std::string& value : column.values) {
    sum += static_cast<double>(value.size());
  }
  return column.values.empty()
             ? 0.0
             : sum / static_cast<double>(column.values.size());
}

// Returns the column with by far the longest values.
const ColumnLook* LongTexts(const TableLook& look, const ColumnMap& taken) {
  const ColumnLook* best = nullptr;
  double longest = kTextLength;
  double next = 0.0;
  for (const ColumnLook& column : look.columns) {
    const double length = MeanLength(column);
    const bool is_taken =
        std::any_of(taken.begin(), taken.end(),
                    [&](const auto& e) { return e.second == column.name; });
    if (is_taken || length < longest) {
      next = std::max(next, is_taken ? 0.0 : length);
      continue;
    }
    next = best == nullptr ? next : longest;
    best = &column;
    longest = length;
  }
  return best != nullptr && longest >= 2.0 * next ? best : nullptr;
}

// Returns the only column with few different values.
const ColumnLook* FewValues(const TableLook& look, const ColumnMap& taken) {
  const ColumnLook* found = nullptr;
  for (const ColumnLook& column : look.columns) {
    const std::set<std::string> values(column.values.begin(),
                                       column.values.end());
    const bool is_taken =
        std::any_of(taken.begin(), taken.end(),
                    [&](const auto& e) { return e.second == column.name; });
    const bool few = values.size() > 1 && values.size() <= kMostPlainClasses &&
                     2 * values.size() <= column.values.size();
    if (is_taken || column.is_list || !few) continue;
    if (found != nullptr) return nullptr;
    found = &column;
  }
  return found;
}

void TakeGuess(const std::string& role, const ColumnLook* column,
               RoleGuess& out) {
  if (column == nullptr || out.columns.contains(role)) return;
  out.columns[role] = column->name;
  out.guessed.push_back(role);
}

void GuessSecond(const TableLook& look, RoleGuess& out) {
  static const auto* const kPairs =
      new std::vector<std::pair<std::string, std::string>>{
          {"sentence1", "sentence2"},
          {"premise", "hypothesis"},
          {"question1", "question2"},
          {"text1", "text2"},
          {"text_a", "text_b"}};
  for (const auto& [first, second] : *kPairs) {
    if (absl::AsciiStrToLower(out.columns["text"]) != first) continue;
    TakeGuess("second", ByName(look, {second}, out.columns), out);
  }
}

// Numbers with decimals are no classes. With many whole numbers nobody can
// tell.
absl::StatusOr<TaskKind> KindOfLabels(const std::string& path,
                                      const ColumnLook* column) {
  if (column == nullptr) return TaskKind::kClassification;
  std::set<std::string> values;
  bool whole = true;
  for (const std::string& value : column->values) {
    const std::string text(absl::StripAsciiWhitespace(value));
    if (text.empty()) continue;
    const auto number = ParseNumber(text);
    if (!number) return TaskKind::kClassification;
    whole = whole && std::trunc(*number) == *number;
    values.insert(text);
  }
  if (!whole) return TaskKind::kRegression;
  if (values.size() <= kMostPlainClasses) return TaskKind::kClassification;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(path, ": ", Shown(column->name), " has ", values.size(),
                   " whole numbers in ", column->values.size(),
                   " rows: are they classes, or amounts?"),
      "say which: --task classification or --task regression");
}

bool IsOfWords(const TableLook& look, const ColumnMap& said) {
  if (said.contains("words") || said.contains("tags")) return true;
  if (said.contains("text") || said.contains("label")) return false;
  const ColumnLook* const words = ByName(look, UsualNames("words"), {});
  return words != nullptr && words->is_list;
}

absl::Status GuessTagging(const std::string& path, const TableLook& look,
                          Labels labels, RoleGuess& out) {
  out.task = {TaskKind::kTagging};
  TakeGuess("words", ByName(look, UsualNames("words"), out.columns), out);
  TakeGuess("tags", ByName(look, UsualNames("tags"), out.columns), out);
  if (!out.columns.contains("words")) return Ask(path, look, "words", "words");
  if (!out.columns.contains("tags") && labels == Labels::kNeeded) {
    return Ask(path, look, "tags", "the words' tags, as texts");
  }
  return absl::OkStatus();
}

// Prompts are told by name alone; nobody knows what else a text may be.
bool IsOfPrompts(const TableLook& look, const ColumnMap& said) {
  if (said.contains("choices")) return true;
  if (said.contains("text") || said.contains("label")) return false;
  return ByName(look, {"prompt"}, {}) != nullptr &&
         (ByName(look, {"answer"}, {}) != nullptr ||
          ByName(look, {"choices"}, {}) != nullptr);
}

absl::Status GuessAnswers(const std::string& path, const TableLook& look,
                          Labels labels,
                          const std::optional<trainer::TaskName>& named,
                          RoleGuess& out) {
  TakeGuess("text", ByName(look, {"prompt"}, out.columns), out);
  TakeGuess("label", ByName(look, {"answer"}, out.columns), out);
  const ColumnLook* const choices = ByName(look, {"choices"}, out.columns);
  const bool lists = choices != nullptr && choices->is_list;
  // A trained decoder says answers, and chooses where there are choices.
  const bool open = !named || labels == Labels::kIfThere;
  const bool chooses = lists || out.columns.contains("choices");
  out.task.kind = named ? named->kind : TaskKind::kAnswers;
  if (open && chooses) out.task.kind = TaskKind::kChoices;
  if (out.task.kind == TaskKind::kChoices) TakeGuess("choices", choices, out);
  if (!out.columns.contains("text")) {
    return Ask(path, look, "text", "the prompts");
  }
  if (out.task.kind == TaskKind::kChoices && !out.columns.contains("choices")) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat(path, ": which column holds the choices? It has ",
                     ListOf(look)),
        "write JSON Lines with a list of texts under \"choices\", or name the "
        "column in datasets.yaml: columns: {choices: …}");
  }
  if (!out.columns.contains("label") && labels == Labels::kNeeded) {
    return Ask(path, look, "label", "the answers");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RoleGuess> GuessRoles(const std::string& path,
                                     const TableLook& look,
                                     const ColumnMap& said,
                                     const std::string& task, Labels labels) {
  for (const auto& [role, column] : said) {
    RETURN_IF_ERROR(CheckColumn(path, look, role, column));
  }
  RoleGuess out;
  out.columns = said;
  const auto named = trainer::ParseTaskName(task);
  if (!task.empty() && !named) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("--task is '", task, "'"),
        "give classification, regression, tagging, pair, answers or "
        "choices");
  }
  if (named ? named->kind == TaskKind::kTagging : IsOfWords(look, said)) {
    RETURN_IF_ERROR(GuessTagging(path, look, labels, out));
    return out;
  }
  if (named ? !trainer::HasClasses(named->kind) &&
                  named->kind != TaskKind::kRegression
            : IsOfPrompts(look, said)) {
    RETURN_IF_ERROR(GuessAnswers(path, look, labels, named, out));
    return out;
  }
  TakeGuess("text", ByName(look, UsualNames("text"), out.columns), out);
  TakeGuess("label", ByName(look, UsualNames("label"), out.columns), out);
  TakeGuess("text", LongTexts(look, out.columns), out);
  if (!out.columns.contains("text"))
    return Ask(path, look, "text", "the texts");
  if (labels == Labels::kNeeded) {
    TakeGuess("label", FewValues(look, out.columns), out);
  }
  if (!out.columns.contains("label") && labels == Labels::kNeeded) {
    return Ask(path, look, "label", "the labels");
  }
  // Nobody knows whether a trained model was trained on pairs.
  if (!named || named->pair || labels == Labels::kIfThere) {
    GuessSecond(look, out);
  }
  out.task.pair = out.columns.contains("second");
  if (named) {
    out.task = *named;
  } else {
    ASSIGN_OR_RETURN(out.task.kind,
                     KindOfLabels(path, look.Find(out.columns["label"])));
    if (out.task.kind == TaskKind::kRegression) out.task.pair = false;
  }
  return out;
}

namespace {

absl::StatusOr<std::string> TaskOf(const std::string& model) {
  const Expected<std::string> json =
      ReadWholeFile(model + "/config.json", trainer::kMaxConfigBytes);
  if (!json.ok()) return ErrorOf(json.fault());
  const Expected<trainer::ExportedFacts> facts =
      trainer::ReadExportedFacts(json.value());
  if (!facts.ok()) {
    Fault fault = facts.fault();
    fault.cause = absl::StrCat(model, ": ", fault.cause);
    return ErrorOf(fault);
  }
  switch (facts.value().task) {
    case trainer::Task::kTokens:
      return "tagging";
    case trainer::Task::kRegression:
      return "regression";
    case trainer::Task::kAnswers:
      return "answers";
    case trainer::Task::kSequence:
      break;
  }
  return "classification";
}

}  // namespace

absl::StatusOr<RowsToPredict> LookAtRowsToPredict(
    const std::string& model, const std::string& file,
    const trainer::ColumnMap& said, const TableHints& hints) {
  ASSIGN_OR_RETURN(const std::string task, TaskOf(model));
  ASSIGN_OR_RETURN(const TableLook look,
                   LookAtTable(file, WithNames(hints, said)));
  ASSIGN_OR_RETURN(RoleGuess guess,
                   GuessRoles(file, look, said, task, Labels::kIfThere));
  RowsToPredict rows;
  rows.format = look.format;
  rows.format_name = trainer::NameOf(look.format.kind);
  rows.columns = std::move(guess.columns);
  rows.labelled = rows.columns.contains(task == "tagging" ? "tags" : "label");
  return rows;
}

}  // namespace frostline::registry
