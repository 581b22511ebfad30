// SPDX-License-Identifier: Apache-2.0
//
// Confusions and residuals; which examples are shown is in examples_view.cc.
#include "cli/view/outcomes_view.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "google/protobuf/struct.pb.h"
#include "proto/packed_numbers.h"
#include "statistics/scores/classification_metrics.h"

namespace frostline::cli {
namespace {

using proto::PackedNumbers;

// Of more classes a matrix is no use on a terminal.
constexpr std::size_t kMostMatrix = 20;
constexpr char kNothingTold[] =
    "the trial told right or wrong alone, not what it predicted: its trainer "
    "is of an earlier version, or there were too many examples\n";

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;

Pairs CountPairs(const ExampleTable& table) {
  Pairs pairs;
  for (std::size_t i = 0; i < table.truth.size(); ++i) {
    ++pairs[{table.truth[i], table.predicted[i]}];
  }
  return pairs;
}

statistics::Confusion ConfusionOf(const ExampleTable& table) {
  statistics::Confusion confusion(table.classes.size());
  confusion.Add(table.truth, table.predicted);
  return confusion;
}

std::string Matrix(const ExampleTable& table, int width) {
  const Pairs pairs = CountPairs(table);
  const bool has_none =
      std::count(table.predicted.begin(), table.predicted.end(), -1) > 0;
  std::vector<Column> columns = {{"true \\ predicted", Align::kLeft}};
  std::vector<std::int32_t> shown;
  for (std::size_t c = 0; c < table.classes.size(); ++c) {
    columns.push_back({table.classes[c], Align::kRight});
    shown.push_back(static_cast<std::int32_t>(c));
  }
  if (has_none) {
    columns.push_back({"(cut off)", Align::kRight});
    shown.push_back(-1);
  }
  Table out(std::move(columns));
  for (std::size_t c = 0; c < table.classes.size(); ++c) {
    std::vector<std::string> cells = {table.classes[c]};
    for (const std::int32_t predicted : shown) {
      const auto found = pairs.find({static_cast<std::int32_t>(c), predicted});
      cells.push_back(found == pairs.end() ? "0" : FormatCount(found->second));
    }
    out.AddRow(std::move(cells));
  }
  return out.Render(width);
}

std::string PerClass(const ExampleTable& table, int width) {
  const statistics::Confusion confusion = ConfusionOf(table);
  Table out({{"class", Align::kLeft},
             {"examples", Align::kRight},
             {"precision", Align::kRight},
             {"recall", Align::kRight},
             {"F1", Align::kRight}});
  for (std::size_t c = 0; c < table.classes.size(); ++c) {
    out.AddRow({table.classes[c],
                FormatCount(static_cast<std::int64_t>(confusion.CountTrue(c))),
                FormatNumber(confusion.ClassPrecision(c)),
                FormatNumber(confusion.ClassRecall(c)),
                FormatNumber(confusion.ClassF1(c))});
  }
  return absl::StrCat(out.Render(width), "accuracy ",
                      FormatNumber(confusion.Accuracy()), ", F1 of classes ",
                      FormatNumber(confusion.F1()), ", mean F1 ",
                      FormatNumber(confusion.MacroF1()), "\n");
}

struct Residuals {
  double mean = 0.0;
  double deviation = 0.0;
  double largest = 0.0;
  std::size_t where = 0;  // the largest
};

Residuals ResidualsOf(const ExampleTable& table) {
  Residuals residuals;
  const auto n = static_cast<double>(table.true_value.size());
  double squares = 0.0;
  for (std::size_t i = 0; i < table.true_value.size(); ++i) {
    const double residual = table.predicted_value[i] - table.true_value[i];
    residuals.mean += residual / n;
    if (std::abs(residual) > std::abs(residuals.largest)) {
      residuals.largest = residual;
      residuals.where = i;
    }
  }
  for (std::size_t i = 0; i < table.true_value.size(); ++i) {
    const double off =
        table.predicted_value[i] - table.true_value[i] - residuals.mean;
    squares += off * off;
  }
  residuals.deviation = n > 1.0 ? std::sqrt(squares / (n - 1.0)) : 0.0;
  return residuals;
}

std::string RenderResiduals(const ExampleTable& table) {
  const Residuals residuals = ResidualsOf(table);
  const LinearFit fit = FitLine(table);
  return absl::StrCat(
      "residuals (predicted less true) of ",
      FormatCount(static_cast<std::int64_t>(table.true_value.size())),
      " examples\n", KeyLine("mean", FormatNumber(residuals.mean)),
      KeyLine("deviation", FormatNumber(residuals.deviation)),
      KeyLine("largest", absl::StrCat(FormatNumber(residuals.largest),
                                      " of example ", residuals.where)),
      KeyLine("linear fit",
              absl::StrCat("predicted = ", FormatNumber(fit.intercept), " + ",
                           FormatNumber(fit.slope), " * true")));
}

}  // namespace

ExampleTable Unpack(const v1::ExampleOutcomes& outcomes) {
  ExampleTable table;
  const auto count =
      static_cast<std::size_t>(std::max<std::int64_t>(outcomes.count(), 0));
  const PackedNumbers truth(outcomes.true_class(), proto::ClassWidth(outcomes));
  const PackedNumbers predicted(outcomes.predicted_class(),
                                proto::ClassWidth(outcomes));
  const PackedNumbers numbers(outcomes.true_value(), 4);
  const PackedNumbers guesses(outcomes.predicted_value(), 4);
  const PackedNumbers halves(outcomes.confidence(), 2);
  const auto classes = static_cast<std::uint32_t>(outcomes.classes_size());
  if (truth.Holds(count) && predicted.Holds(count)) {
    table.classes = {outcomes.classes().begin(), outcomes.classes().end()};
    for (std::size_t i = 0; i < count; ++i) {
      // A coordinator of this version has checked nothing of it.
      if (truth.At(i) >= classes) return {};
      const std::uint32_t said = predicted.At(i);
      table.truth.push_back(static_cast<std::int32_t>(truth.At(i)));
      table.predicted.push_back(said < classes ? static_cast<std::int32_t>(said)
                                               : -1);
      if (!halves.Holds(count)) continue;
      table.confidence.push_back(proto::FromHalf(halves.At(i)));
    }
  } else if (numbers.Holds(count) && guesses.Holds(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      table.true_value.push_back(numbers.FloatAt(i));
      table.predicted_value.push_back(guesses.FloatAt(i));
    }
  }
  return table;
}

LinearFit FitLine(const ExampleTable& table) {
  const auto n = static_cast<double>(table.true_value.size());
  double mean_x = 0.0, mean_y = 0.0;
  for (std::size_t i = 0; i < table.true_value.size(); ++i) {
    mean_x += table.true_value[i] / n;
    mean_y += table.predicted_value[i] / n;
  }
  double xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < table.true_value.size(); ++i) {
    const double x = table.true_value[i] - mean_x;
    xx += x * x;
    xy += x * (table.predicted_value[i] - mean_y);
  }
  LinearFit fit;
  fit.slope = xx > 0.0 ? xy / xx : 0.0;
  fit.intercept = mean_y - fit.slope * mean_x;
  return fit;
}

std::string RenderConfusion(const v1::ExampleOutcomes& outcomes, int width) {
  const ExampleTable table = Unpack(outcomes);
  if (!table.true_value.empty()) return RenderResiduals(table);
  if (table.truth.empty()) return kNothingTold;
  return absl::StrCat(
      table.classes.size() <= kMostMatrix ? Matrix(table, width) + "\n" : "",
      PerClass(table, width));
}

std::string ConfusionToJson(const v1::ExampleOutcomes& outcomes) {
  const ExampleTable table = Unpack(outcomes);
  google::protobuf::Struct json;
  auto& fields = *json.mutable_fields();
  if (!table.true_value.empty()) {
    const Residuals residuals = ResidualsOf(table);
    const LinearFit fit = FitLine(table);
    fields["mean"].set_number_value(residuals.mean);
    fields["deviation"].set_number_value(residuals.deviation);
    fields["largest"].set_number_value(residuals.largest);
    fields["largest_example"].set_number_value(
        static_cast<double>(residuals.where));
    fields["slope"].set_number_value(fit.slope);
    fields["intercept"].set_number_value(fit.intercept);
    return ToJson(json);
  }
  const statistics::Confusion confusion = ConfusionOf(table);
  auto& classes = *fields["classes"].mutable_list_value();
  const Pairs pairs = CountPairs(table);
  for (std::size_t c = 0; c < table.classes.size(); ++c) {
    auto& one = *classes.add_values()->mutable_struct_value()->mutable_fields();
    one["name"].set_string_value(table.classes[c]);
    one["precision"].set_number_value(confusion.ClassPrecision(c));
    one["recall"].set_number_value(confusion.ClassRecall(c));
    one["f1"].set_number_value(confusion.ClassF1(c));
    auto& row = *one["predicted"].mutable_struct_value()->mutable_fields();
    for (const auto& [pair, count] : pairs) {
      if (pair.first != static_cast<std::int32_t>(c)) continue;
      const std::string name =
          pair.second < 0
              ? ""
              : table.classes[static_cast<std::size_t>(pair.second)];
      row[name].set_number_value(static_cast<double>(count));
    }
  }
  return ToJson(json);
}

}  // namespace frostline::cli
