// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/term/table.h"
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

// Writes a value that rounds to zero without a sign: "0.000", not "-0.000".
std::string Rounded(double value, int places) {
  std::string text = absl::StrFormat("%.*f", places, value);
  if (text.find_first_of("123456789") == std::string::npos &&
      absl::StartsWith(text, "-")) {
    text.erase(0, 1);
  }
  return text;
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
  return absl::StrCat(Rounded(interval.lo80(), places), " – ",
                      Rounded(interval.hi80(), places));
}

std::string NumberWithin(const v1::Interval& interval) {
  if (std::isnan(interval.value())) return "-";
  if (!(interval.hi80() > interval.lo80())) {
    return FormatNumber(interval.value());
  }
  return Rounded(interval.value(), PlacesOf(interval));
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
  if (std::isnan(tau.value())) return "-";
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
  titles.insert(titles.end(),
                {"reason", "advice", "freeze_probability", "rank"});
  std::string text = CsvLine(titles);
  for (const v1::PlannedModule& module : plan.modules()) {
    Cells cells = {module.module(), YesNo(module.freeze()),
                   CsvNumber(module.rate())};
    AddInterval(module.cost_of_freezing(), cells);
    cells.insert(cells.end(),
                 {module.reason(), AdviceText(module),
                  CsvNumber(module.freeze_probability()),
                  module.has_rank() ? absl::StrCat(module.rank()) : ""});
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

namespace {

constexpr int kLongestBar = 16;
constexpr int kShortestBar = 4;
constexpr int kPairBar = 8;
constexpr int kLongTitle = 8;            // columns that "░ unsure" takes
constexpr double kBelieveLittle = 0.3;   // R2, as the contract says
constexpr double kWorthSaying = 0.0005;  // what rounds to more than nothing
constexpr double kMuchBeyond = 0.05;
constexpr double kSureOfRelation = 0.9;
constexpr int kMostPairs = 20;  // of a table for people

// Returns the columns that are left beside a name and this many columns of
// text.
int BarColumns(int name_width, int others) {
  return std::clamp(kTextColumns - name_width - others, kShortestBar,
                    kLongestBar);
}

std::string CaptionOf(const v1::ImportanceReport& report, int width) {
  const v1::ImportanceOptions& options = report.options();
  std::string text = absl::StrCat(
      "importance for ", options.target(), " in ", LastPart(report.study()),
      ": ", FormatCount(report.trials_used()), " trials, ", options.evaluator(),
      ", seed ", options.seed());
  if (options.at_step() > 0) {
    absl::StrAppend(&text, ", at step ", options.at_step());
  }
  if (options.top_quantile() > 0.0 && options.top_quantile() < 1.0) {
    absl::StrAppend(&text, ", best ",
                    FormatNumber(options.top_quantile() * 100), " %");
  }
  if (!options.filter().empty()) {
    absl::StrAppend(&text, ", ", options.filter());
  }
  return VerdictLines(
      absl::StrCat(text, report.provisional() ? ", study still running" : ""),
      width);
}

// Returns how well the report predicts unseen trials.
std::string FitText(const v1::ImportanceReport& report) {
  const double r2 = report.out_of_bag_r2();
  const bool few =
      std::any_of(report.warnings().begin(), report.warnings().end(),
                  [](const v1::Warning& warning) {
                    return warning.code() == "FEW_TRIALS";
                  });
  // An evaluator that predicts nothing has none.
  if (std::isnan(r2)) return "";
  if (few && r2 > 0.0) {
    return "too few trials to say how much of their differences it explains";
  }
  if (r2 <= 0.0) return "explains nothing of trials that it has not seen";
  return absl::StrCat(
      absl::StrFormat("explains %.0f %% of the differences of trials that it "
                      "has not seen",
                      r2 * 100.0),
      r2 < kBelieveLittle ? ": believe little of this" : "");
}

std::string Footer(const v1::ImportanceReport& report, int width) {
  std::string text = Sentence("fit", FitText(report), width);
  const double beyond = report.unexplained().value();
  if (beyond >= kMuchBeyond) {  // false for NaN
    absl::StrAppend(
        &text,
        Sentence("beyond pairs",
                 absl::StrCat(Percent(beyond), " of all effects"), width));
  }
  if (report.noise_share() >= kWorthSaying) {
    absl::StrAppend(&text, Sentence("noise",
                                    Percent(report.noise_share()) +
                                        " of the trials' variance, kept out",
                                    width));
  }
  // Where nothing can be told from chance the verdict has said so.
  const std::string& stability = report.stability().sentence();
  if (!absl::StrContains(stability, "told from chance")) {
    absl::StrAppend(&text, Sentence("stability", stability, width));
  }
  std::set<std::string> said;  // no warning twice
  for (const v1::Warning& warning : report.warnings()) {
    if (!said.insert(warning.sentence()).second) continue;
    absl::StrAppend(&text, Sentence("warning", warning.sentence(), width));
  }
  return text;
}

std::string RelationText(const v1::PairImportance& pair) {
  const double substitutes = pair.substitutes_probability();
  if (std::isnan(substitutes)) return "";
  const double chance = std::max(substitutes, 1.0 - substitutes);
  if (chance < kSureOfRelation) return "";
  return absl::StrCat(substitutes > 0.5 ? "substitutes" : "complements", ", ",
                      Probability(chance));
}

}  // namespace

std::string RenderImportance(const v1::ImportanceReport& report,
                             const std::string& head, int width) {
  double largest = 0.0;
  int longest_name = 6;
  for (const v1::ParameterImportance& row : report.parameters()) {
    largest = std::max(largest, row.main().value());
    longest_name = std::max(longest_name, DisplayWidth(row.parameter()));
  }
  const int columns = BarColumns(longest_name, 54);
  Table table({{"MODULE"},
               {"RANK", Align::kRight},
               {"MAIN EFFECT", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {columns < kLongTitle ? "░" : "░ unsure"},
               {"DIRECTION"}});
  for (const v1::ParameterImportance& row : report.parameters()) {
    const double unit = largest > 0.0 ? 1.0 / largest : 0.0;
    const double sure = row.distinguishable() ? row.main().lo80() : 0.0;
    const std::string bar =
        BarWithin(sure * unit, row.main().value() * unit, columns);
    // Among modules that are not told from chance there is no order.
    table.AddRow({row.parameter(),
                  row.distinguishable() ? absl::StrCat(row.rank()) : "-",
                  Percent(row.main().value()), PercentInterval(row.main()), bar,
                  DirectionText(row)});
  }
  return absl::StrCat(CaptionOf(report, width),
                      VerdictLines(report.verdict(), width), "\n", head,
                      table.Render(width), Footer(report, width));
}

std::string RenderPairs(const v1::ImportanceReport& report, int width) {
  Table table({{"PAIR"},
               {"SHARE", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""},
               {"RELATION"}});
  const int shown = std::min(report.pairs_size(), kMostPairs);
  if (shown == 0) return "\nno pairs: this evaluator knows none\n";
  const double largest = report.pairs(0).share().value();
  for (int i = 0; i < shown; ++i) {
    const v1::PairImportance& pair = report.pairs(i);
    const double unit = largest > 0 ? 1.0 / largest : 0.0;
    table.AddRow({absl::StrCat(pair.first(), " x ", pair.second()),
                  Percent(pair.share().value()), PercentInterval(pair.share()),
                  BarWithin(pair.share().lo80() * unit,
                            pair.share().value() * unit, kPairBar),
                  RelationText(pair)});
  }
  return absl::StrCat("\npairs, beyond both main effects: ", shown, " of ",
                      report.total_pairs(), "\n\n", table.Render(width),
                      "substitutes: either suffices; complements: it takes "
                      "both\n");
}

std::string RenderGroups(const v1::ImportanceReport& report, int width) {
  Table table({{"GROUP"},
               {"SHARE", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""}});
  if (report.groups().empty()) {
    return "\nno groups: there are no modules in it, or this evaluator knows "
           "none\n";
  }
  double largest = 0.0;
  for (const v1::GroupImportance& group : report.groups()) {
    largest = std::max(largest, group.share().value());
  }
  for (const v1::GroupImportance& group : report.groups()) {
    const double share = largest > 0 ? group.share().value() / largest : 0.0;
    const double sure = largest > 0 ? group.share().lo80() / largest : 0.0;
    table.AddRow({group.group(), Percent(group.share().value()),
                  PercentInterval(group.share()),
                  BarWithin(sure, share, kLongestBar)});
  }
  return absl::StrCat("\ngroups, with the pairs inside them\n\n",
                      table.Render(width));
}

std::string RenderSubsets(const v1::ImportanceReport& report, int width) {
  Table table({{"TOGETHER", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"BEYOND", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"SET"}});
  for (const v1::SubsetImportance& subset : report.subsets()) {
    table.AddRow(
        {Percent(subset.together().value()), PercentInterval(subset.together()),
         Percent(subset.beyond().value()), PercentInterval(subset.beyond()),
         absl::StrJoin(subset.parameters(), ", ")});
  }
  return absl::StrCat(
      "\nsets: all effects among them together; beyond: what only all of them "
      "have\n\n",
      table.Render(width));
}

// Marginal curves, tables of two parameters and rankings over time as text.

namespace {

constexpr int kBarColumns = 16;
constexpr std::size_t kMaxName = 200;
constexpr int kRankedShown = 5;

std::string ValueText(const google::protobuf::Value& value, bool is_rate,
                      const std::string& parameter) {
  if (is_rate && value.kind_case() == google::protobuf::Value::kNumberValue) {
    return FormatLevel(parameter, value.number_value());
  }
  return FormatValue(value);
}

bool Same(const google::protobuf::Value& a, const google::protobuf::Value& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

std::string RenderCurve(const v1::Marginal& marginal, bool is_rate, int width) {
  Table table({{"VALUE", Align::kRight},
               {"EXPECTED", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"TRIALS", Align::kRight},
               {""},
               {""}});
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const v1::MarginalPoint& point : marginal.points()) {
    lowest = std::min(lowest, point.expected().value());
    highest = std::max(highest, point.expected().value());
  }
  for (const v1::MarginalPoint& point : marginal.points()) {
    const double height =
        highest > lowest
            ? (point.expected().value() - lowest) / (highest - lowest)
            : 0.0;
    table.AddRow({ValueText(point.value(), is_rate, marginal.parameter()),
                  NumberWithin(point.expected()),
                  NumberInterval(point.expected()),
                  absl::StrCat(point.trials()), Bar(height, kBarColumns),
                  Same(point.value(), marginal.best()) ? "best" : ""});
  }
  return absl::StrCat("\n", proto::CleanText(marginal.parameter(), kMaxName),
                      "\n\n", table.Render(width));
}

}  // namespace

RateNames RatesIn(const v1::ImportanceReport& report) {
  RateNames rates;
  for (const v1::ParameterImportance& row : report.parameters()) {
    if (!row.modules().empty()) rates.insert(row.parameter());
  }
  return rates;
}

std::string RenderMarginals(const v1::GetMarginalsReply& reply,
                            const RateNames& rates, int width) {
  std::string text = Caption(absl::StrCat("expected ", reply.options().target(),
                                          ", all else averaged out"),
                             reply.provisional(), width);
  text.pop_back();  // each curve begins with a blank line
  for (const v1::Marginal& marginal : reply.marginals()) {
    text += RenderCurve(marginal, rates.contains(marginal.parameter()), width);
  }
  return text;
}

std::string RenderPairMarginal(const v1::PairMarginal& table,
                               const RateNames& rates, int width) {
  const int columns = table.second_values_size();
  const bool first_is_rate = rates.contains(table.first());
  const bool second_is_rate = rates.contains(table.second());
  std::vector<Column> titles = {{proto::CleanText(
      absl::StrCat(table.first(), " \\ ", table.second()), kMaxName)}};
  for (const google::protobuf::Value& value : table.second_values()) {
    titles.push_back(
        {ValueText(value, second_is_rate, table.second()), Align::kRight});
  }
  Table rows(std::move(titles));
  for (int i = 0; i < table.first_values_size(); ++i) {
    std::vector<std::string> cells = {
        ValueText(table.first_values(i), first_is_rate, table.first())};
    for (int j = 0; j < columns; ++j) {
      // In brackets: nobody has tried it.
      const std::string text = FormatNumber(table.expected(i * columns + j));
      cells.push_back(table.trials(i * columns + j) > 0
                          ? text
                          : absl::StrCat("(", text, ")"));
    }
    rows.AddRow(std::move(cells));
  }
  return absl::StrCat(
      Caption(absl::StrCat("expected ", table.options().target(),
                           ", all else averaged out"),
              table.provisional(), width),
      rows.Render(width), "\nin brackets: no trial has both values\n");
}

std::string RenderStability(const v1::GetStabilityReply& reply, int width) {
  Table table(
      {{"TRIALS", Align::kRight}, {"AGREEMENT", Align::kRight}, {"RANKING"}});
  for (const v1::StabilityPoint& point : reply.points()) {
    std::vector<std::pair<int, std::string>> ranked;
    for (const v1::ParameterImportance& row : point.parameters()) {
      if (row.rank() <= kRankedShown) {
        ranked.emplace_back(row.rank(), row.parameter());
      }
    }
    std::sort(ranked.begin(), ranked.end());
    const std::string names =
        absl::StrJoin(ranked, ", ", [](std::string* out, const auto& one) {
          absl::StrAppend(out, one.second);
        });
    table.AddRow({absl::StrCat(point.trials()),
                  absl::StrFormat("%.2f", point.tau_to_final()), names});
  }
  std::string text = absl::StrCat(
      "\nranking over the study's first trials; agreement with the last row is "
      "Kendall's\ntau\n\n",
      table.Render(width), "\n",
      Sentence("verdict", reply.verdict().sentence(), width));
  if (!std::isnan(reply.verdict().half_tau().value())) {
    absl::StrAppend(
        &text,
        Sentence("two halves", TauText(reply.verdict().half_tau()), width));
  }
  return text;
}

}  // namespace frostline::cli
