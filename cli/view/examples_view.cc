// SPDX-License-Identifier: Apache-2.0
//
// Which examples are worth a look.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/outcomes_view.h"

namespace frostline::cli {
namespace {

// The first `most` of those that count, by falling `worth`; of equal ones the
// earlier example.
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

}  // namespace frostline::cli
