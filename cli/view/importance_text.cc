// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr double kSureEnough = 0.9;
constexpr std::size_t kMaxSentence = 1000;
constexpr std::size_t kNoteColumns = 16;
// Below this width the keys are not beside their texts.
constexpr int kNarrowColumns = 60;
constexpr std::size_t kNarrowIndent = 2;

int ClippedSteps(double share, int steps) {
  return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * steps));
}

// Returns the width of lines: those longer than kTextColumns are hard to read
// on any terminal.
int TextColumns(int width) {
  return width < 1 ? kTextColumns : std::min(width, kTextColumns);
}

// Returns the number of decimals that show two digits of the interval's half
// width.
int PlacesOf(const v1::Interval& interval) {
  const double half = (interval.hi80() - interval.lo80()) / 2.0;
  if (!(half > 0.0)) return 4;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 12);
}

// Breaks `text` into lines of at most `width` columns; a longer word stays
// whole.
std::vector<std::string> Lines(const std::string& text, int width) {
  std::vector<std::string> lines(1);
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    std::string& line = lines.back();
    const std::string longer =
        line.empty() ? std::string(word) : absl::StrCat(line, " ", word);
    if (line.empty() || DisplayWidth(longer) <= width) {
      line = longer;
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

}  // namespace

std::string Percent(double share) {
  if (std::isnan(share)) return "-";
  return absl::StrFormat("%.1f %%", share * 100.0);
}

std::string PercentInterval(const v1::Interval& interval) {
  if (std::isnan(interval.lo80()) || std::isnan(interval.hi80())) return "-";
  return absl::StrFormat("%.1f – %.1f %%", interval.lo80() * 100.0,
                         interval.hi80() * 100.0);
}

std::string NumberInterval(const v1::Interval& interval) {
  if (std::isnan(interval.lo80()) || std::isnan(interval.hi80())) return "-";
  const int places = PlacesOf(interval);
  return absl::StrFormat("%.*f – %.*f", places, interval.lo80(), places,
                         interval.hi80());
}

std::string NumberWithin(const v1::Interval& interval) {
  if (std::isnan(interval.value())) return "-";
  if (!(interval.hi80() > interval.lo80())) {
    return FormatNumber(interval.value());
  }
  return absl::StrFormat("%.*f", PlacesOf(interval), interval.value());
}

std::string WithInterval(const v1::Interval& interval) {
  if (std::isnan(interval.value())) return "-";
  const std::string ends = NumberInterval(interval);
  return ends == "-" ? NumberWithin(interval)
                     : absl::StrCat(NumberWithin(interval), " (", ends, ")");
}

std::string Probability(double probability) {
  if (std::isnan(probability)) return "-";
  if (probability > 0.99) return "> 99 %";
  if (probability < 0.01) return "< 1 %";
  return absl::StrFormat("%.0f %%", probability * 100.0);
}

std::string TauText(const v1::Interval& tau) {
  return absl::StrFormat("tau %.2f (80 %%: %.2f – %.2f)", tau.value(),
                         tau.lo80(), tau.hi80());
}

std::string Bar(double share, int columns) {
  static constexpr const char* kEighths[] = {"",  "▏", "▎", "▍",
                                             "▌", "▋", "▊", "▉"};
  if (std::isnan(share)) return "";
  const int eighths = ClippedSteps(share, columns * 8);
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::string BarWithin(double sure, double share, int columns) {
  if (std::isnan(share)) return "";
  const int end = std::max(1, ClippedSteps(share, columns));
  const int solid =
      std::isnan(sure) ? 0 : std::min(end, ClippedSteps(sure, columns));
  std::string bar;
  for (int i = 0; i < end; ++i) bar += i < solid ? "█" : "░";
  return bar;
}

std::string DirectionText(const v1::ParameterImportance& importance) {
  if (!(importance.direction_probability() >= kSureEnough)) return "";
  return importance.direction() > 0.0 ? "higher is better" : "lower is better";
}

std::string AdviceText(const v1::PlannedModule& module) {
  const bool is_safe = module.freeze_probability() >= kSureEnough;
  switch (module.advice()) {
    case v1::PLAN_ADVICE_FREEZE:
      return "freeze";
    case v1::PLAN_ADVICE_TRAIN:
      return "train";
    case v1::PLAN_ADVICE_FIXED:
      return "fixed";
    default:
      return is_safe && !module.freeze() ? "either" : "not known";
  }
}

std::string VerdictLines(const std::string& sentence, int width) {
  std::string text;
  if (sentence.empty()) return text;
  for (const std::string& line :
       Lines(proto::CleanText(sentence, kMaxSentence), TextColumns(width))) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Verdict(const std::string& sentence, int width) {
  return sentence.empty() ? "" : VerdictLines(sentence, width) + "\n";
}

std::string Sentence(const std::string& key, const std::string& text,
                     int width) {
  if (text.empty()) return "";
  const int columns = TextColumns(width);
  const std::size_t indent =
      columns < kNarrowColumns ? kNarrowIndent : kNoteColumns;
  std::string start = proto::CleanText(key, kMaxSentence) + ":";
  std::string sentence;
  if (start.size() >= indent) sentence = std::exchange(start, "") + "\n";
  start.resize(indent, ' ');
  for (const std::string& line : Lines(proto::CleanText(text, kMaxSentence),
                                       columns - static_cast<int>(indent))) {
    absl::StrAppend(&sentence, start, line, "\n");
    start.assign(indent, ' ');
  }
  return sentence;
}

std::string Caption(const std::string& text, bool provisional, int width) {
  return VerdictLines(
             absl::StrCat(text, provisional ? ", study still running" : ""),
             width) +
         "\n";
}

namespace {

using Cells = std::vector<std::string>;

void AddInterval(const v1::Interval& interval, Cells& cells) {
  for (const double value : {interval.value(), interval.lo80(), interval.hi80(),
                             interval.lo95(), interval.hi95()}) {
    cells.push_back(CsvNumber(value));
  }
}

// Adds "main", "main_lo80", … for each name.
void AddIntervalNames(const std::string& name, Cells& cells) {
  for (const char* const end : {"", "_lo80", "_hi80", "_lo95", "_hi95"}) {
    cells.push_back(name + end);
  }
}

std::string YesNo(bool value) { return value ? "true" : "false"; }

// Returns a number unchanged, and a choice as people know it.
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
