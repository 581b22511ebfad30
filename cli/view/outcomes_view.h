// SPDX-License-Identifier: Apache-2.0
//
// File: outcomes_view.h
//
// What a trial said of each example, for people: confusions, residuals, and
// which examples it was surest of.
#ifndef FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_
#define FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Unpacked. Either the classes are there, or the numbers, or neither.
struct ExampleTable {
  std::vector<std::string> classes;
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;  // -1: none
  std::vector<float> confidence;        // empty: not told
  std::vector<double> true_value;
  std::vector<double> predicted_value;
};

ExampleTable Unpack(const v1::ExampleOutcomes& outcomes);

// predicted = intercept + slope * true, by least squares.
struct LinearFit {
  double slope = 0.0;
  double intercept = 0.0;
};
LinearFit FitLine(const ExampleTable& table);

// Of classes what was taken for what, with precision, recall and F1 of each; of
// numbers their residuals. Says so where the trial told neither.
std::string RenderConfusion(const v1::ExampleOutcomes& outcomes, int width);
std::string ConfusionToJson(const v1::ExampleOutcomes& outcomes);

struct ExampleGroup {
  std::string title;
  std::vector<std::size_t> examples;
};
// The surest and the least sure that are right, and that are wrong; of numbers
// the largest residuals of the linear fit. At most so many of each.
std::vector<ExampleGroup> PickExamples(const ExampleTable& table,
                                       std::size_t most);
std::string RenderExamples(const std::vector<ExampleGroup>& groups,
                           const ExampleTable& table,
                           const std::map<std::int64_t, std::string>& texts,
                           int width);

// Reads a file of predictions (base/plain/predictions_file.h) as the examples
// that outcomes_view.h picks from.
class PredictedExamples {
 public:
  // Takes the examples that have a label. A line that does not fit its header
  // is passed over, as no trainer of ours writes one.
  explicit PredictedExamples(std::istream& file);

  const ExampleTable& table() const { return table_; }
  // With [brackets] around the word where examples are words.
  std::string TextOf(std::size_t example) const;

 private:
  void AddText(const std::vector<std::string>& columns, bool of_numbers);
  void AddWord(const std::vector<std::string>& columns);
  void AddClasses(const std::string& truth, const std::string& prediction,
                  const std::string& confidence);
  std::int32_t ClassOf(const std::string& name);

  ExampleTable table_;
  std::vector<std::vector<std::string>> texts_;  // of words: sentences
  // By example: which text, and which word of it.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  bool of_words_ = false;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_
