// SPDX-License-Identifier: Apache-2.0
#include "cli/view/outcomes_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/plain/predictions_file.h"
#include "base/plain/text.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "google/protobuf/struct.pb.h"
#include "proto/wire_error.h"
#include "proto/wire_values.h"
#include "statistics/scores/scores.h"
#include "study/objective.h"

namespace frostline::cli {

// Confusions and residuals; which examples are shown is in outcomes_view.cc.

namespace {

using proto::PackedNumbers;

// The most classes for which a matrix is useful on a terminal.
constexpr std::size_t kMostMatrix = 20;
constexpr std::size_t kMostSaidBytes = 200;  // of an answer or a prompt
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

// The choice of examples that are worth a look.

namespace {

// Returns the first `most` examples that count, by decreasing `worth`; equal
// ones keep their order.
ExampleGroup Best(std::string title, std::size_t count, std::size_t most,
                  const std::function<bool(std::size_t)>& counts,
                  const std::function<double(std::size_t)>& worth) {
  ExampleGroup group = {std::move(title), {}};
  for (std::size_t i = 0; i < count; ++i) {
    if (counts(i)) group.examples.push_back(i);
  }
  std::stable_sort(
      group.examples.begin(), group.examples.end(),
      [&worth](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  if (group.examples.size() > most) group.examples.resize(most);
  return group;
}

std::string ClassName(const ExampleTable& table, std::int32_t c) {
  return c < 0 ? "(cut off)" : table.classes[static_cast<std::size_t>(c)];
}

}  // namespace

std::vector<ExampleGroup> PickExamples(const ExampleTable& table,
                                       std::size_t most) {
  if (!table.true_value.empty()) {
    const LinearFit fit = FitLine(table);
    return {Best(
        "largest residuals of the linear fit", table.true_value.size(), most,
        [](std::size_t) { return true; },
        [&table, fit](std::size_t i) {
          return std::abs(table.predicted_value[i] - fit.intercept -
                          fit.slope * table.true_value[i]);
        })};
  }
  const auto is_right = [&table](std::size_t i) {
    return table.truth[i] == table.predicted[i];
  };
  const auto is_wrong = [&table](std::size_t i) {
    return table.predicted[i] >= 0 && table.truth[i] != table.predicted[i];
  };
  const auto sure = [&table](std::size_t i) {
    return table.confidence.empty() ? 0.0 : double{table.confidence[i]};
  };
  const auto unsure = [&sure](std::size_t i) { return -sure(i); };
  const std::size_t count = table.truth.size();
  if (table.confidence.empty()) {
    return {Best("wrong (the first ones; confidences were not told)", count,
                 most, is_wrong, sure)};
  }
  return {Best("wrong, and most confident", count, most, is_wrong, sure),
          Best("wrong, and least confident", count, most, is_wrong, unsure),
          Best("right, and least confident", count, most, is_right, unsure),
          Best("right, and most confident", count, most, is_right, sure)};
}

std::string RenderExamples(const std::vector<ExampleGroup>& groups,
                           const ExampleTable& table,
                           const std::map<std::int64_t, std::string>& texts,
                           int width) {
  std::string all;
  for (const ExampleGroup& group : groups) {
    Table rows({{"example", Align::kRight},
                {"true", Align::kLeft},
                {"predicted", Align::kLeft},
                {"confidence", Align::kRight, 1},
                {"text", Align::kLeft}});
    for (const std::size_t i : group.examples) {
      const auto text = texts.find(static_cast<std::int64_t>(i));
      const bool numbers = !table.true_value.empty();
      rows.AddRow(
          {absl::StrCat(i),
           numbers ? FormatNumber(table.true_value[i])
                   : ClassName(table, table.truth[i]),
           numbers ? FormatNumber(table.predicted_value[i])
                   : ClassName(table, table.predicted[i]),
           table.confidence.empty() ? "" : FormatNumber(table.confidence[i]),
           text == texts.end() ? "" : text->second});
    }
    absl::StrAppend(&all, all.empty() ? "" : "\n", group.title, "\n",
                    group.examples.empty() ? "none\n" : rows.Render(width));
  }
  return all;
}

namespace {

constexpr std::size_t kColumnsOfWords = 4;

}  // namespace

PredictedExamples::PredictedExamples(std::istream& file) {
  std::string line;
  if (!std::getline(file, line)) return;
  const std::vector<std::string> names = absl::StrSplit(line, '\t');
  of_words_ = names[0] == kWordColumn;
  const bool of_numbers = !of_words_ && std::find(names.begin(), names.end(),
                                                  "confidence") == names.end();
  if (of_words_) texts_.emplace_back();
  while (std::getline(file, line)) {
    if (of_words_ && line.empty()) {
      texts_.emplace_back();
      continue;
    }
    std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns.size() != names.size()) continue;
    for (std::string& column : columns) column = UnescapeColumn(column);
    if (of_words_) {
      AddWord(columns);
    } else {
      AddText(columns, of_numbers);
    }
  }
}

void PredictedExamples::AddText(const std::vector<std::string>& columns,
                                bool of_numbers) {
  if (columns[0].empty()) return;  // nobody knows what is right
  if (of_numbers) {
    table_.true_value.push_back(ParseNumber(columns[0]).value_or(0.0));
    table_.predicted_value.push_back(ParseNumber(columns[1]).value_or(0.0));
  } else {
    AddClasses(columns[0], columns[1], columns[2]);
  }
  places_.emplace_back(texts_.size(), 0);
  texts_.emplace_back(columns.begin() + (of_numbers ? 2 : 3), columns.end());
}

void PredictedExamples::AddWord(const std::vector<std::string>& columns) {
  if (columns.size() != kColumnsOfWords) return;
  if (!columns[1].empty()) {
    AddClasses(columns[1], columns[2], columns[3]);
    places_.emplace_back(texts_.size() - 1, texts_.back().size());
  }
  texts_.back().push_back(columns[0]);
}

void PredictedExamples::AddClasses(const std::string& truth,
                                   const std::string& prediction,
                                   const std::string& confidence) {
  table_.truth.push_back(ClassOf(truth));
  table_.predicted.push_back(prediction.empty() ? -1 : ClassOf(prediction));
  table_.confidence.push_back(
      static_cast<float>(ParseNumber(confidence).value_or(0.0)));
}

std::int32_t PredictedExamples::ClassOf(const std::string& name) {
  const auto found =
      std::find(table_.classes.begin(), table_.classes.end(), name);
  if (found == table_.classes.end()) table_.classes.push_back(name);
  return static_cast<std::int32_t>(
      std::find(table_.classes.begin(), table_.classes.end(), name) -
      table_.classes.begin());
}

std::string PredictedExamples::TextOf(std::size_t example) const {
  const auto [text, word] = places_[example];
  if (!of_words_) return absl::StrJoin(texts_[text], " | ");
  std::string sentence;
  for (std::size_t i = 0; i < texts_[text].size(); ++i) {
    const bool is_it = i == word;
    absl::StrAppend(&sentence, i == 0 ? "" : " ", is_it ? "[" : "",
                    texts_[text][i], is_it ? "]" : "");
  }
  return sentence;
}

std::string RenderSaid(std::istream& file, std::size_t most, int width) {
  struct Kind {
    const char* title;
    Table rows;
    std::size_t shown = 0;
  };
  const std::vector<Column> columns = {{"example", Align::kRight},
                                       {"wanted", Align::kLeft},
                                       {"said", Align::kLeft},
                                       {"prompt", Align::kLeft}};
  Kind wrong = {"wrong", Table(columns)};
  Kind right = {"right", Table(columns)};
  std::string line;
  std::getline(file, line);  // label, prediction, text
  for (std::size_t i = 0; std::getline(file, line); ++i) {
    std::vector<std::string> cells = absl::StrSplit(line, '\t');
    if (cells.size() != 3) continue;
    Kind& kind = cells[0] == cells[1] ? right : wrong;
    if (kind.shown++ >= most) continue;
    for (std::string& cell : cells) {
      cell = proto::CleanText(UnescapeColumn(cell), kMostSaidBytes);
    }
    kind.rows.AddRow({absl::StrCat(i), cells[0], cells[1], cells[2]});
  }
  std::string text;
  for (const Kind* const kind : {&wrong, &right}) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", kind->title,
                    kind->shown > most ? ", the first ones" : "", "\n",
                    kind->shown == 0 ? "none\n" : kind->rows.Render(width));
  }
  return text;
}

namespace {

using Tests = std::vector<const v1::PairedTest*>;

struct Groups {
  Tests better;
  Tests worse;
  Tests alike;
  Tests untested;
};

Groups GroupsOf(const v1::TrialComparison& comparison) {
  const bool more_is_better = comparison.direction() != v1::DIRECTION_MINIMIZE;
  Groups groups;
  for (const v1::PairedTest& test : comparison.tests()) {
    if (test.method() == v1::PairedTest::METHOD_UNSPECIFIED ||
        std::isnan(test.p())) {
      groups.untested.push_back(&test);
    } else if (!test.differs()) {
      groups.alike.push_back(&test);
    } else {
      const bool is_better = (test.difference() > 0.0) == more_is_better;
      (is_better ? groups.better : groups.worse).push_back(&test);
    }
  }
  return groups;
}

// Returns an amount in points for a metric that ends at 1, else the plain
// value. Adding 0 turns -0 into 0.
std::string Amount(const v1::TrialComparison& comparison, double amount,
                   bool with_sign) {
  const bool in_points = PresumedRange(comparison.metric()).hi == 1.0;
  const std::string number =
      in_points
          ? absl::StrFormat("%+.1f", std::round(1000.0 * amount) / 10.0 + 0.0)
          : absl::StrFormat("%+.4g", amount);
  return absl::StrCat(with_sign ? number : number.substr(1),
                      in_points ? " points" : "");
}

std::string ListOf(const v1::TrialComparison& comparison, const Tests& tests) {
  return absl::StrJoin(
      tests, ", ", [&](std::string* out, const v1::PairedTest* test) {
        absl::StrAppend(out, test->second(), " (",
                        Amount(comparison, test->difference(), true), ")");
      });
}

// Returns ", where 9.4 points would have been seen", with the largest visible
// difference.
std::string VisibleText(const v1::TrialComparison& comparison,
                        const Tests& alike) {
  double visible = 0.0;
  for (const v1::PairedTest* const test : alike) {
    if (std::isnan(test->smallest_difference())) return "";
    visible = std::max(visible, test->smallest_difference());
  }
  return absl::StrCat(", where ", Amount(comparison, visible, false),
                      " would have been seen");
}

std::string MarginText(const v1::TrialComparison& comparison,
                       const Tests& alike) {
  if (!(comparison.margin() > 0.0)) return "";
  Tests tested = alike;
  std::erase_if(tested, [](const v1::PairedTest* test) {
    return std::isnan(test->worse_p());
  });
  if (tested.empty()) return "";
  const std::string margin = Amount(comparison, comparison.margin(), false);
  Tests kept;
  std::copy_if(tested.begin(), tested.end(), std::back_inserter(kept),
               [](const v1::PairedTest* test) { return test->not_worse(); });
  if (kept.empty()) {
    return absl::StrCat("; that one of these is not worse by ", margin,
                        " or more is not shown");
  }
  return absl::StrCat("; surely not worse by ", margin,
                      " or more: ", ListOf(comparison, kept));
}

}  // namespace

std::string SummaryOf(const v1::TrialComparison& comparison) {
  const auto& tests = comparison.tests();
  const bool has_one_first = std::all_of(
      tests.begin(), tests.end(),
      [&tests](const auto& test) { return test.first() == tests[0].first(); });
  if (tests.size() < 2 || !has_one_first) return comparison.verdict();
  const Groups groups = GroupsOf(comparison);
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const Tests& group) {
    if (group.empty()) return;
    parts.push_back(absl::StrCat(what, ListOf(comparison, group)));
  };
  add(groups.better.size() == 1 ? "better is " : "better are ", groups.better);
  add(groups.worse.size() == 1 ? "worse is " : "worse are ", groups.worse);
  add("cannot be told apart: ", groups.alike);
  if (!groups.alike.empty()) {
    absl::StrAppend(&parts.back(), VisibleText(comparison, groups.alike),
                    MarginText(comparison, groups.alike));
  }
  add("cannot be tested, of one run each without examples: ", groups.untested);
  return absl::StrCat("by ", comparison.metric(), " against ", tests[0].first(),
                      ": ", absl::StrJoin(parts, "; "));
}

namespace {

std::string Signed(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%+.4f", value);
}

std::string Plain(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%.4f", value);
}

std::string PText(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", p);
}

std::string MethodText(v1::PairedTest::Method method) {
  switch (method) {
    case v1::PairedTest::MCNEMAR:
      return "McNemar";
    case v1::PairedTest::SIGNS:
      return "signs";
    case v1::PairedTest::BOOTSTRAP:
      return "bootstrap";
    case v1::PairedTest::SEEDS:
      return "seeds";
    default:
      return "-";
  }
}

std::string DataText(const v1::TrialComparison& comparison) {
  std::string text = absl::StrCat(
      "paired tests of ", comparison.metric(),
      comparison.direction() == v1::DIRECTION_MINIMIZE ? " (lower is better)"
                                                       : "",
      ": ", FormatCount(comparison.examples()),
      comparison.sentences() > 0 ? " words in " : " examples");
  if (comparison.sentences() > 0) {
    absl::StrAppend(&text, FormatCount(comparison.sentences()), " sentences");
  }
  if (comparison.draws() > 0) {
    absl::StrAppend(&text, ", ", FormatCount(comparison.draws()), " resamples");
  }
  return text;
}

std::string MeansTable(const v1::TrialComparison& comparison, int width) {
  Table table({{"TRIAL"}, {"MEAN", Align::kRight}, {"RUNS", Align::kRight}});
  for (const v1::ComparedContender& contender : comparison.contenders()) {
    table.AddRow({contender.name(), Plain(contender.mean()),
                  absl::StrCat(contender.runs_size())});
  }
  return table.Render(width);
}

std::string TestsTable(const v1::TrialComparison& comparison, int width) {
  const bool margin = comparison.margin() > 0.0;
  std::vector<Column> columns = {{"SECOND"},
                                 {"LESS", Align::kLeft, 1},
                                 {"DIFFERENCE", Align::kRight},
                                 {"95 %", Align::kRight},
                                 {"p", Align::kRight},
                                 {"VISIBLE FROM", Align::kRight, 2},
                                 {"TEST", Align::kLeft, 3}};
  if (margin) columns.push_back({"WORSE, p", Align::kRight});
  Table table(columns);
  for (const v1::PairedTest& test : comparison.tests()) {
    std::vector<std::string> row = {
        test.second(),
        test.first(),
        absl::StrCat(Signed(test.difference()), test.differs() ? "*" : " "),
        std::isnan(test.lo95())
            ? "-"
            : absl::StrCat(Signed(test.lo95()), " – ", Signed(test.hi95())),
        PText(test.adjusted_p()),
        Plain(test.smallest_difference()),
        MethodText(test.method())};
    if (margin) row.push_back(PText(test.worse_p()));
    table.AddRow(row);
  }
  return table.Render(width);
}

}  // namespace

std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width) {
  std::string text = Caption(DataText(comparison), false, width);
  for (const v1::PairedTest& test : comparison.tests()) {
    text += VerdictLines(test.finding(), width);
  }
  absl::StrAppend(&text, "\n", MeansTable(comparison, width), "\n",
                  TestsTable(comparison, width),
                  "p: ", comparison.tests_size() > 1 ? "Holm's; " : "",
                  "* below 0.05. VISIBLE FROM: what would have been found 4 "
                  "times in 5\n");
  for (const std::string& note : comparison.notes()) {
    text += Sentence("note", note, width);
  }
  return text;
}

}  // namespace frostline::cli
