// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_csv.h"

#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/csv.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"

namespace frostline::cli {
namespace {

using Cells = std::vector<std::string>;

void AddInterval(const v1::Interval& interval, Cells& cells) {
  for (const double value : {interval.value(), interval.lo80(), interval.hi80(),
                             interval.lo95(), interval.hi95()}) {
    cells.push_back(CsvNumber(value));
  }
}

// "main", "main_lo80", … for each name.
void AddIntervalNames(const std::string& name, Cells& cells) {
  for (const char* const end : {"", "_lo80", "_hi80", "_lo95", "_hi95"}) {
    cells.push_back(name + end);
  }
}

std::string YesNo(bool value) { return value ? "true" : "false"; }

// Numbers as they are; choices as people know them.
std::string ShareCell(const google::protobuf::Value& value) {
  if (value.kind_case() == google::protobuf::Value::kNumberValue) {
    return CsvNumber(value.number_value());
  }
  return FormatValue(value);
}

}  // namespace

std::string ImportanceCsv(const v1::ImportanceReport& report) {
  Cells titles = {"parameter", "modules", "rank"};
  AddIntervalNames("main", titles);
  AddIntervalNames("total", titles);
  titles.insert(titles.end(), {"direction", "top3_probability",
                               "distinguishable", "direction_probability"});
  std::string text = CsvLine(titles);
  for (const v1::ParameterImportance& row : report.parameters()) {
    Cells cells = {row.parameter(), absl::StrJoin(row.modules(), " "),
                   absl::StrCat(row.rank())};
    AddInterval(row.main(), cells);
    AddInterval(row.total(), cells);
    cells.insert(
        cells.end(),
        {CsvNumber(row.direction()), CsvNumber(row.top3_probability()),
         YesNo(row.distinguishable()), CsvNumber(row.direction_probability())});
    text += CsvLine(cells);
  }
  return text;
}

std::string PairsCsv(const v1::ListPairsReply& pairs) {
  Cells titles = {"first", "second"};
  AddIntervalNames("share", titles);
  titles.push_back("substitutes_probability");
  std::string text = CsvLine(titles);
  for (const v1::PairImportance& pair : pairs.pairs()) {
    Cells cells = {pair.first(), pair.second()};
    AddInterval(pair.share(), cells);
    cells.push_back(CsvNumber(pair.substitutes_probability()));
    text += CsvLine(cells);
  }
  return text;
}

std::string GroupsCsv(const v1::ImportanceReport& report) {
  Cells titles = {"group"};
  AddIntervalNames("share", titles);
  std::string text = CsvLine(titles);
  for (const v1::GroupImportance& group : report.groups()) {
    Cells cells = {group.group()};
    AddInterval(group.share(), cells);
    text += CsvLine(cells);
  }
  return text;
}

std::string SubsetsCsv(const v1::ImportanceReport& report) {
  Cells titles = {"subset"};
  AddIntervalNames("together", titles);
  AddIntervalNames("beyond", titles);
  std::string text = CsvLine(titles);
  for (const v1::SubsetImportance& subset : report.subsets()) {
    Cells cells = {absl::StrJoin(subset.parameters(), ",")};
    AddInterval(subset.together(), cells);
    AddInterval(subset.beyond(), cells);
    text += CsvLine(cells);
  }
  return text;
}

std::string MarginalsCsv(const v1::GetMarginalsReply& reply) {
  Cells titles = {"parameter", "value"};
  AddIntervalNames("expected", titles);
  titles.push_back("trials");
  std::string text = CsvLine(titles);
  for (const v1::Marginal& marginal : reply.marginals()) {
    for (const v1::MarginalPoint& point : marginal.points()) {
      Cells cells = {marginal.parameter(), ShareCell(point.value())};
      AddInterval(point.expected(), cells);
      cells.push_back(absl::StrCat(point.trials()));
      text += CsvLine(cells);
    }
  }
  return text;
}

std::string PairMarginalCsv(const v1::PairMarginal& table) {
  std::string text =
      CsvLine({table.first(), table.second(), "expected", "trials"});
  const int columns = table.second_values_size();
  for (int i = 0; i < table.expected_size(); ++i) {
    text +=
        CsvLine({ShareCell(table.first_values(i / columns)),
                 ShareCell(table.second_values(i % columns)),
                 CsvNumber(table.expected(i)), absl::StrCat(table.trials(i))});
  }
  return text;
}

std::string StabilityCsv(const v1::GetStabilityReply& reply) {
  Cells titles = {"trials", "tau_to_final", "parameter", "rank"};
  AddIntervalNames("main", titles);
  std::string text = CsvLine(titles);
  for (const v1::StabilityPoint& point : reply.points()) {
    for (const v1::ParameterImportance& row : point.parameters()) {
      Cells cells = {absl::StrCat(point.trials()),
                     CsvNumber(point.tau_to_final()), row.parameter(),
                     absl::StrCat(row.rank())};
      AddInterval(row.main(), cells);
      text += CsvLine(cells);
    }
  }
  return text;
}

std::string PlanCsv(const v1::FreezePlan& plan) {
  Cells titles = {"module", "freeze", "rate"};
  AddIntervalNames("cost_of_freezing", titles);
  titles.insert(titles.end(), {"reason", "advice", "freeze_probability"});
  std::string text = CsvLine(titles);
  for (const v1::PlannedModule& module : plan.modules()) {
    Cells cells = {module.module(), YesNo(module.freeze()),
                   CsvNumber(module.rate())};
    AddInterval(module.cost_of_freezing(), cells);
    cells.insert(cells.end(), {module.reason(), AdviceText(module),
                               CsvNumber(module.freeze_probability())});
    text += CsvLine(cells);
  }
  return text;
}

std::string ComparisonCsv(const v1::StudyComparison& comparison) {
  Cells titles = {"parameter"};
  AddIntervalNames("first", titles);
  AddIntervalNames("second", titles);
  titles.push_back("distinguishable");
  std::string text = CsvLine(titles);
  for (const auto& shift : comparison.shifts()) {
    Cells cells = {shift.parameter()};
    AddInterval(shift.first_share(), cells);
    AddInterval(shift.second_share(), cells);
    cells.push_back(YesNo(shift.distinguishable()));
    text += CsvLine(cells);
  }
  return text;
}

}  // namespace frostline::cli
