// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/table_verbs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "frostline/v1/trial.pb.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/space.h"

namespace frostline::server {
namespace {

using Kind = ColumnBuilder::Kind;

constexpr std::size_t kMostLevels = 256;
// Less than a page has, since integers may take more than is counted for them.
constexpr std::size_t kMostTableBytes = kMostPageBytes * 3 / 4;
constexpr int kUsualRows = 10'000;
constexpr std::array kGroups = {"values",  "parameters", "rates",
                                "metrics", "usage",      "labels"};
constexpr std::array kSingle = {
    "number",    "state",    "origin",      "attempt",
    "worker",    "seed",     "repeat",      "priority",
    "last_step", "revision", "create_time", "start_time",
    "end_time",  "failure",  "cause",       "note"};

// What a trial's labels, note and seed are kept in.
v1::Trial NotesOf(const storage::TrialRow& row) {
  v1::Trial notes;
  notes.ParseFromString(row.labels);
  return notes;
}

std::string OriginName(storage::TrialOrigin origin) {
  constexpr std::size_t kPrefix = sizeof("TRIAL_ORIGIN_") - 1;
  return v1::TrialOrigin_Name(static_cast<int>(origin)).substr(kPrefix);
}

bool HasParameter(const Space& space, const std::string& name) {
  return std::any_of(space.parameters().begin(), space.parameters().end(),
                     [&](const Parameter& one) { return one.name == name; });
}

bool HasModule(const Space& space, const std::string& name) {
  return std::any_of(
      space.modules().begin(), space.modules().end(),
      [&](const ModuleBinding& one) { return one.module == name; });
}

bool IsNumberOfUsage(const std::string& name) {
  const auto* const field = v1::Usage::descriptor()->FindFieldByName(name);
  return field != nullptr &&
         field->cpp_type() !=
             google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsColumn(const std::string& name, const CheckedStudy& study) {
  const auto is = [&](const char* known) { return name == known; };
  if (std::any_of(kGroups.begin(), kGroups.end(), is) ||
      std::any_of(kSingle.begin(), kSingle.end(), is)) {
    return true;
  }
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    if (name == absl::StrCat("values[", i, "]")) return true;
  }
  const std::vector<std::string> parts =
      absl::StrSplit(name, absl::MaxSplits('.', 1));
  if (parts.size() != 2 || parts[1].empty()) return false;
  if (parts[0] == "parameters") return HasParameter(study.space, parts[1]);
  if (parts[0] == "rates") return HasModule(study.space, parts[1]);
  if (parts[0] == "usage") return IsNumberOfUsage(parts[1]);
  return parts[0] == "metrics" || parts[0] == "labels";
}

void AppendLittleEndian(std::uint32_t code, int width, std::string& out) {
  for (int i = 0; i < width; ++i) {
    out.push_back(static_cast<char>(code >> (8 * i) & 0xff));
  }
}

void SetCodes(const std::vector<std::uint32_t>& codes, std::size_t entries,
              std::size_t rows, v1::CodeCells& cells) {
  const int width = entries <= 256 ? 1 : entries <= 65'536 ? 2 : 4;
  std::string& bytes = *cells.mutable_codes();
  bytes.reserve(rows * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < rows; ++i) {
    AppendLittleEndian(i < codes.size() ? codes[i] : 0, width, bytes);
  }
}

// Reads fewer trials when the filter names a state.
std::vector<TrialState> StatesIn(const TrialFilter& filter) {
  for (const FilterTerm& term : filter.terms()) {
    v1::TrialState state;
    if (term.field == "state" && term.op == "=" &&
        v1::TrialState_Parse("TRIAL_STATE_" + term.value, &state)) {
      return {static_cast<TrialState>(state)};
    }
  }
  return {};
}

// Where a page begins, and the revision that all pages say.
struct TablePlace {
  std::int64_t revision = 0;
  std::int64_t after = -1;
};

std::string ListOf(const StudyHandle& study,
                   const v1::GetTrialTableRequest& request,
                   std::int64_t revision) {
  std::string list = absl::StrCat("table of ", study.key, " at ", revision,
                                  " after ", request.after_revision());
  for (const std::string& column : request.columns()) {
    absl::StrAppend(&list, "\n", column);
  }
  return list;
}

// A token is "{revision}-" and a token of the list at that revision.
absl::StatusOr<TablePlace> PlaceOf(const StudyHandle& study,
                                   const v1::GetTrialTableRequest& request) {
  TablePlace place{.revision = study.revision};
  std::pair<std::string, std::string> parts =
      absl::StrSplit(request.page_token(), absl::MaxSplits('-', 1));
  if (!request.page_token().empty() &&
      !absl::SimpleAtoi(parts.first, &place.revision)) {
    parts.second = "none";
  }
  ASSIGN_OR_RETURN(
      place.after,
      ParsePageToken(ListOf(study, request, place.revision), request.filter(),
                     request.page_token().empty() ? "" : parts.second, -1));
  return place;
}

}  // namespace

void ColumnBuilder::BeginRow(std::size_t row, std::size_t bytes) {
  present_.resize(row, false);
  present_.push_back(true);
  bytes_ += bytes;
}

void ColumnBuilder::SetNumber(std::size_t row, double value) {
  BeginRow(row, kind_ == Kind::kLevels ? 1 : sizeof(value));
  numbers_.resize(row, 0.0);
  numbers_.push_back(value);
}

void ColumnBuilder::SetInteger(std::size_t row, std::int64_t value) {
  BeginRow(row, sizeof(value));
  integers_.resize(row, 0);
  integers_.push_back(value);
}

void ColumnBuilder::SetWord(std::size_t row,
                            const google::protobuf::Value& value) {
  BeginRow(row, 2);
  const auto [found, is_new] = code_of_.try_emplace(
      value.SerializeAsString(), static_cast<std::uint32_t>(words_.size()));
  if (is_new) {
    words_.push_back(value);
    bytes_ += found->first.size();
  }
  codes_.resize(row, 0);
  codes_.push_back(found->second);
}

void ColumnBuilder::SetWord(std::size_t row, const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  SetWord(row, value);
}

bool ColumnBuilder::BuildLevels(v1::TrialColumn& column,
                                std::size_t rows) const {
  std::unordered_map<std::uint64_t, std::uint32_t> code_of;
  std::vector<std::uint32_t> codes(rows, 0);
  std::vector<double> entries;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (!present_[i]) continue;
    const auto [found, is_new] =
        code_of.try_emplace(std::bit_cast<std::uint64_t>(numbers_[i]),
                            static_cast<std::uint32_t>(entries.size()));
    if (is_new) entries.push_back(numbers_[i]);
    if (entries.size() > kMostLevels) return false;
    codes[i] = found->second;
  }
  v1::CodeCells& cells = *column.mutable_codes();
  for (const double entry : entries) {
    cells.add_entries()->set_number_value(entry);
  }
  SetCodes(codes, entries.size(), rows, cells);
  return true;
}

v1::TrialColumn ColumnBuilder::Build(const std::string& name,
                                     std::size_t rows) const {
  v1::TrialColumn column;
  column.set_name(name);
  if (kind_ == Kind::kIntegers) {
    auto& values = *column.mutable_integers()->mutable_values();
    values.Assign(integers_.begin(), integers_.end());
    values.Resize(static_cast<int>(rows), 0);
  } else if (kind_ == Kind::kWords) {
    v1::CodeCells& cells = *column.mutable_codes();
    cells.mutable_entries()->Assign(words_.begin(), words_.end());
    SetCodes(codes_, words_.size(), rows, cells);
  } else if (kind_ == Kind::kNumbers || !BuildLevels(column, rows)) {
    auto& values = *column.mutable_numbers()->mutable_values();
    values.Assign(numbers_.begin(), numbers_.end());
    values.Resize(static_cast<int>(rows), 0.0);
  }
  const bool has_all =
      present_.size() == rows &&
      std::find(present_.begin(), present_.end(), false) == present_.end();
  if (has_all) return column;
  std::string& bits = *column.mutable_present();
  bits.resize((rows + 7) / 8, '\0');
  for (std::size_t i = 0; i < present_.size(); ++i) {
    if (present_[i]) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << i % 8);
  }
  return column;
}

absl::StatusOr<TableBuilder> TableBuilder::Of(
    const CheckedStudy& study,
    const google::protobuf::RepeatedPtrField<std::string>& columns) {
  TableBuilder table(study);
  for (const std::string& name : columns) {
    if (IsColumn(name, study)) {
      table.asked_.insert(name);
      continue;
    }
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("this study has no column \"", name, "\""),
                     "name a column as docs/reference/contract.md does, such "
                     "as state, values, rates or rates.layer.0",
                     "columns");
  }
  return table;
}

bool TableBuilder::Wants(const std::string& name,
                         std::string_view group) const {
  if (asked_.empty()) return group != "labels";
  return asked_.count(name) > 0 || asked_.count(std::string(group)) > 0;
}

ColumnBuilder* TableBuilder::Find(const std::string& name,
                                  std::string_view group, Kind kind) {
  const auto [found, is_new] = place_of_.try_emplace(name, columns_.size());
  if (is_new && !Wants(name, group)) {
    found->second = std::numeric_limits<std::size_t>::max();
  } else if (is_new) {
    columns_.emplace_back(name, ColumnBuilder(kind));
  }
  return found->second < columns_.size() ? &columns_[found->second].second
                                         : nullptr;
}

void TableBuilder::AddFixed(const storage::TrialRow& row) {
  const auto integer = [&](const char* name, std::int64_t value) {
    if (auto* column = Find(name, name, Kind::kIntegers)) {
      column->SetInteger(rows_, value);
    }
  };
  const auto word = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    if (auto* column = Find(name, name, Kind::kWords)) {
      column->SetWord(rows_, text);
    }
  };
  const auto time = [&](const char* name, WallMicros at) {
    if (at != 0) integer(name, at);
  };
  integer("number", row.number);
  word("state", NameOf(row.state));
  word("origin", OriginName(row.origin));
  integer("attempt", row.attempt);
  word("worker", row.worker.empty() ? "" : WorkerNameOf(row.worker));
  integer("priority", row.priority);
  integer("last_step", row.last_step);
  integer("revision", row.revision);
  time("create_time", row.created);
  time("start_time", row.started);
  time("end_time", row.ended);
  word("failure",
       row.failure == FailureClass::kNone ? "" : NameOf(row.failure));
  word("cause", row.cause);
  if (row.labels.empty()) return;
  const v1::Trial notes = NotesOf(row);
  if (notes.seed() != 0) {
    // As int64 the same 64 bits: a seed is no quantity.
    integer("seed", static_cast<std::int64_t>(notes.seed()));
  }
  integer("repeat", notes.repeat());
  word("note", notes.note());
  const std::map<std::string, std::string> labels(notes.labels().begin(),
                                                  notes.labels().end());
  for (const auto& [name, text] : labels) {
    if (auto* column =
            Find(absl::StrCat("labels.", name), "labels", Kind::kWords)) {
      column->SetWord(rows_, text);
    }
  }
}

void TableBuilder::AddPoint(const storage::TrialRow& row) {
  const Space& space = study_->space;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (auto* column =
            Find(absl::StrCat("values[", i, "]"), "values", Kind::kNumbers)) {
      column->SetNumber(rows_, row.values[i]);
    }
  }
  for (std::size_t i = 0; i < row.point.size(); ++i) {
    if (IsAbsent(row.point[i])) continue;
    const Parameter& parameter = space.parameters()[i];
    const bool is_word = std::holds_alternative<Categorical>(parameter.domain);
    auto* const column =
        Find(absl::StrCat("parameters.", parameter.name), "parameters",
             is_word ? Kind::kWords : Kind::kLevels);
    if (column == nullptr) continue;
    const auto value = ValueToProto(parameter.domain, row.point[i]);
    if (is_word) {
      column->SetWord(rows_, value);
    } else {
      column->SetNumber(rows_, value.number_value());
    }
  }
  for (std::size_t i = 0; i < space.modules().size(); ++i) {
    if (auto* column = Find(absl::StrCat("rates.", space.modules()[i].module),
                            "rates", Kind::kLevels)) {
      column->SetNumber(rows_, space.RateAt(i, row.point));
    }
  }
  for (const auto& [name, value] : row.metrics) {
    if (auto* column =
            Find(absl::StrCat("metrics.", name), "metrics", Kind::kNumbers)) {
      column->SetNumber(rows_, value);
    }
  }
}

void TableBuilder::AddUsage(const storage::TrialRow& row) {
  using google::protobuf::FieldDescriptor;
  v1::Usage usage;
  if (row.usage.empty() || !usage.ParseFromString(row.usage)) return;
  std::vector<const FieldDescriptor*> fields;
  const auto& reflection = *usage.GetReflection();
  reflection.ListFields(usage, &fields);  // those that say something
  for (const FieldDescriptor* const field : fields) {
    const std::string name = absl::StrCat("usage.", field->name());
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      if (auto* column = Find(name, "usage", Kind::kNumbers)) {
        column->SetNumber(rows_, reflection.GetDouble(usage, field));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      if (auto* column = Find(name, "usage", Kind::kIntegers)) {
        column->SetInteger(rows_, reflection.GetInt64(usage, field));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (auto* column = Find(name, "usage", Kind::kWords)) {
        column->SetWord(rows_, reflection.GetString(usage, field));
      }
    }
  }
}

void TableBuilder::Add(const storage::TrialRow& row) {
  AddFixed(row);
  AddPoint(row);
  AddUsage(row);
  ++rows_;
}

std::size_t TableBuilder::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, column] : columns_) {
    bytes += name.size() + column.bytes() + rows_ / 8 + 1;
  }
  return bytes;
}

v1::TrialTable TableBuilder::Build() const {
  v1::TrialTable table;
  table.set_rows(static_cast<std::int64_t>(rows_));
  for (const auto& [name, column] : columns_) {
    *table.add_columns() = column.Build(name, rows_);
  }
  return table;
}

void TableVerb::AddTo(VerbTable& table) {
  calls_.AddRead(table, "StudyService.GetTrialTable", calls_.readers(), this,
                 &TableVerb::GetTrialTable);
}

absl::StatusOr<v1::GetTrialTableReply> TableVerb::GetTrialTable(
    const CallContext& caller, const StudyHandle& study,
    const v1::GetTrialTableRequest& request) const {
  ASSIGN_OR_RETURN(
      const TrialFilter filter,
      TrialFilter::Parse(request.filter(), NamesOf(*study.checked)));
  ASSIGN_OR_RETURN(TableBuilder table,
                   TableBuilder::Of(*study.checked, request.columns()));
  ASSIGN_OR_RETURN(const TablePlace place, PlaceOf(study, request));
  const auto most = static_cast<std::size_t>(
      request.page_size() == 0 ? kUsualRows : request.page_size());
  storage::TrialQuery query{.study = study.key,
                            .states = StatesIn(filter),
                            .after = place.after,
                            .limit = storage::kScanPage};
  std::int64_t last = place.after;
  bool is_full = false;
  while (!is_full) {
    RETURN_IF_ERROR(CheckWaiting(caller));
    ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                     store_.ListTrials(query));
    for (const storage::TrialRow& row : rows) {
      if (row.revision <= request.after_revision() || !filter.Matches(row)) {
        continue;
      }
      // A single row always fits, so every page makes progress.
      is_full = table.rows() == most ||
                (table.rows() > 0 && table.bytes() > kMostTableBytes);
      if (is_full) break;
      table.Add(row);
      last = row.number;
    }
    if (rows.size() < storage::kScanPage) break;
    query.after = rows.back().number;
  }
  v1::GetTrialTableReply reply;
  *reply.mutable_table() = table.Build();
  reply.mutable_table()->set_revision(place.revision);
  if (is_full) {
    reply.set_next_page_token(
        absl::StrCat(place.revision, "-",
                     MakePageToken(ListOf(study, request, place.revision),
                                   request.filter(), last)));
  }
  return reply;
}

}  // namespace frostline::server
