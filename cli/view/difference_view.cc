// SPDX-License-Identifier: Apache-2.0
#include "cli/view/difference_view.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"

namespace frostline::cli {
namespace {

std::string ValueOf(const google::protobuf::Value& value, bool is_rate,
                    const std::string& parameter) {
  if (value.kind_case() == google::protobuf::Value::kNullValue) return "-";
  if (is_rate && value.kind_case() == google::protobuf::Value::kNumberValue) {
    return FormatLevel(parameter, value.number_value());
  }
  return FormatValue(value);
}

std::string WithSign(const v1::Interval& interval) {
  return absl::StrCat(interval.value() > 0.0 ? "+" : "",
                      NumberWithin(interval));
}

std::string ValuesOf(
    const google::protobuf::RepeatedPtrField<google::protobuf::Value>& values,
    const v1::DifferencePart& part) {
  std::vector<std::string> shown;
  shown.reserve(static_cast<std::size_t>(values.size()));
  for (int i = 0; i < values.size(); ++i) {
    shown.push_back(
        ValueOf(values[i], part.modules_size() > 0, part.parameters(i)));
  }
  return absl::StrJoin(shown, ", ");
}

}  // namespace

std::string RenderDifference(const v1::DifferenceExplanation& difference,
                             int width) {
  std::string text =
      Caption(absl::StrCat(difference.options().target(), " of ",
                           difference.first(), " and ", difference.second()),
              difference.provisional(), width);
  text += VerdictLines(difference.verdict(), width);
  Table table({{"PARAMETER"},
               {"FIRST", Align::kRight, 2},
               {"SECOND", Align::kRight, 2},
               {"PART", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"SIGN IS SURE", Align::kRight, 1}});
  for (const v1::DifferencePart& part : difference.parts()) {
    table.AddRow({absl::StrJoin(part.parameters(), ", "),
                  ValuesOf(part.first_values(), part),
                  ValuesOf(part.second_values(), part), WithSign(part.part()),
                  NumberInterval(part.part()),
                  Probability(part.sign_probability())});
  }
  table.AddRow({"predicted", "", "", WithSign(difference.predicted()),
                NumberInterval(difference.predicted()), ""});
  table.AddRow({"luck, and what is not searched", "", "",
                WithSign(difference.luck()), NumberInterval(difference.luck()),
                ""});
  v1::Interval seen;
  seen.set_value(difference.seen());
  table.AddRow({"seen", FormatNumber(difference.first_value()),
                FormatNumber(difference.second_value()), WithSign(seen), "",
                ""});
  absl::StrAppend(&text, "\n", table.Render(width));
  for (const v1::Warning& warning : difference.warnings()) {
    absl::StrAppend(
        &text, WrapText(absl::StrCat("warning: ", warning.sentence()), width));
  }
  return text;
}

std::string RenderTunability(const v1::ImportanceReport& report, int width) {
  Table table({{"PARAMETER"},
               {"DEFAULT", Align::kRight},
               {"BEST", Align::kRight},
               {"GAIN", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"GAINS", Align::kRight}});
  for (const v1::Tunability& tuned : report.tunability()) {
    table.AddRow({tuned.parameter(),
                  ValueOf(tuned.default_value(), true, tuned.parameter()),
                  ValueOf(tuned.best_value(), true, tuned.parameter()),
                  WithSign(tuned.gain()), NumberInterval(tuned.gain()),
                  Probability(tuned.gain_probability())});
  }
  return absl::StrCat(
      "\n",
      WrapText(absl::StrCat("gain: what a rate of its own brings a module in ",
                            report.options().target(),
                            " where all others stay at the one rate that is "
                            "best for all"),
               width),
      "\n", table.Render(width));
}

std::string TunabilityCsv(const v1::ImportanceReport& report) {
  std::string text =
      CsvLine({"parameter", "default", "best", "gain", "gain_lo80", "gain_hi80",
               "gain_lo95", "gain_hi95", "gain_probability"});
  for (const v1::Tunability& tuned : report.tunability()) {
    const v1::Interval& gain = tuned.gain();
    text += CsvLine(
        {tuned.parameter(), CsvNumber(tuned.default_value().number_value()),
         CsvNumber(tuned.best_value().number_value()), CsvNumber(gain.value()),
         CsvNumber(gain.lo80()), CsvNumber(gain.hi80()), CsvNumber(gain.lo95()),
         CsvNumber(gain.hi95()), CsvNumber(tuned.gain_probability())});
  }
  return text;
}

}  // namespace frostline::cli
