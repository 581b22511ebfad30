// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial outcomes`: what a trial said of each example, a row each.
#include <google/protobuf/struct.pb.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/trial_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/term/csv.h"
#include "cli/term/table.h"
#include "cli/view/outcomes_view.h"
#include "google/protobuf/util/json_util.h"
#include "proto/packed_numbers.h"

namespace frostline::cli {
namespace {

struct RowsArgs {
  TrialWords trial;
  std::string set;
  std::string task;
  std::string format = "table";
};

using Row = std::vector<std::string>;

// What the trial told of examples, by column.
class OutcomeRows {
 public:
  explicit OutcomeRows(const v1::ExampleOutcomes& outcomes)
      : outcomes_(outcomes), table_(Unpack(outcomes)) {
    titles_ = {"example", has_bits() ? "right" : "score"};
    if (has_classes() || has_numbers()) {
      titles_.insert(titles_.end(), {"true", "predicted"});
    }
    if (!table_.confidence.empty()) titles_.emplace_back("confidence");
  }

  const Row& titles() const { return titles_; }
  bool has_bits() const {
    return outcomes_.encoding() == v1::ExampleOutcomes::PACKED_BITS;
  }
  bool has_classes() const { return !table_.predicted.empty(); }
  bool has_numbers() const { return !table_.predicted_value.empty(); }

  Row At(std::size_t i) const {
    Row row = {absl::StrCat(i), Judged(i)};
    if (has_classes()) {
      row.insert(row.end(),
                 {Class(table_.truth[i]), Class(table_.predicted[i])});
    } else if (has_numbers()) {
      row.insert(row.end(), {CsvNumber(table_.true_value[i]),
                             CsvNumber(table_.predicted_value[i])});
    }
    if (!table_.confidence.empty()) {
      row.push_back(CsvNumber(static_cast<double>(table_.confidence[i])));
    }
    return row;
  }

 private:
  // A word that was cut off has no predicted class.
  std::string Class(std::int32_t index) const {
    return index < 0 ? "" : table_.classes[static_cast<std::size_t>(index)];
  }

  std::string Judged(std::size_t i) const {
    const std::string& data = outcomes_.data();
    if (has_bits()) {
      const std::size_t at = i / 8;
      const bool right =
          at < data.size() &&
          (static_cast<std::uint8_t>(data[at]) >> i % 8 & 1) != 0;
      return right ? "1" : "0";
    }
    const proto::PackedNumbers halves(data, 2);
    if (data.size() < (i + 1) * 2) return "";
    return CsvNumber(static_cast<double>(proto::FromHalf(halves.At(i))));
  }

  const v1::ExampleOutcomes& outcomes_;
  const ExampleTable table_;
  Row titles_;
};

// Numbers are numbers there; classes are text whatever they look like.
std::string JsonLine(const OutcomeRows& rows, std::size_t i) {
  const Row row = rows.At(i);
  google::protobuf::Struct object;
  for (std::size_t c = 0; c < row.size(); ++c) {
    google::protobuf::Value value;
    const bool is_class = rows.has_classes() && (c == 2 || c == 3);
    double number = 0.0;
    if (row[c].empty()) {
      value.set_null_value(google::protobuf::NULL_VALUE);
    } else if (c == 1 && rows.has_bits()) {
      value.set_bool_value(row[c] == "1");
    } else if (!is_class && absl::SimpleAtod(row[c], &number) &&
               std::isfinite(number)) {
      value.set_number_value(number);
    } else {
      value.set_string_value(row[c]);
    }
    (*object.mutable_fields())[rows.titles()[c]] = value;
  }
  std::string line;
  (void)google::protobuf::util::MessageToJsonString(object, &line);
  return line + "\n";
}

void PrintOutcomes(const OutcomeRows& rows, std::size_t count,
                   const std::string& format, int width) {
  if (format == "jsonl") {
    for (std::size_t i = 0; i < count; ++i) std::cout << JsonLine(rows, i);
    return;
  }
  if (format == "csv") {
    std::cout << CsvLine(rows.titles());
    for (std::size_t i = 0; i < count; ++i) std::cout << CsvLine(rows.At(i));
    return;
  }
  std::vector<Column> columns;
  for (const std::string& title : rows.titles()) {
    columns.push_back({.title = absl::AsciiStrToUpper(title)});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < count; ++i) table.AddRow(rows.At(i));
  std::cout << table.Render(width);
}

absl::StatusOr<ExitCode> ShowOutcomeRows(Session& session,
                                         const RowsArgs& args) {
  v1::GetExampleOutcomesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  request.set_set(args.set);
  request.set_task(args.task);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ExampleOutcomes outcomes,
      client->Call(&v1::StudyService::Stub::GetExampleOutcomes, request));
  PrintOutcomes(OutcomeRows(outcomes),
                static_cast<std::size_t>(outcomes.count()), args.format,
                session.terminal.width);
  return kExitOk;
}

}  // namespace

void AddTrialOutcomeRows(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<RowsArgs>();
  CLI::App* const verb = AddStudyTrial(
      noun, "outcomes", "What a trial said of each example, a row each",
      invocation, args->trial,
      [args](Session& session) { return ShowOutcomeRows(session, *args); });
  verb->add_option("--set", args->set,
                   "test, or the id of a data set; else the validation set");
  verb->add_option("--task", args->task, "Of a study of several tasks");
  verb->add_option("--format", args->format, "table, csv, jsonl [table]")
      ->transform(CLI::IsMember(
          std::vector<std::string>{"table", "csv", "jsonl"}, CLI::ignore_case));
}

}  // namespace frostline::cli
