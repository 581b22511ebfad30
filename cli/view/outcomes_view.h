// SPDX-License-Identifier: Apache-2.0
//
// File: outcomes_view.h
//
// What trials said of each example, and the paired tests that compare them by
// it.
#ifndef FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_
#define FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frostline/v1/comparison.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// What a trial predicted for each example, for people: confusions, residuals,
// and the examples with the highest confidence.

// Unpacked outcomes. It holds classes or numbers, or neither.
struct ExampleTable {
  std::vector<std::string> classes;
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;  // -1: no prediction
  std::vector<float> confidence;        // empty: unknown
  std::vector<double> true_value;
  std::vector<double> predicted_value;
};

ExampleTable Unpack(const v1::ExampleOutcomes& outcomes);

// A least-squares fit: predicted = intercept + slope * true.
struct LinearFit {
  double slope = 0.0;
  double intercept = 0.0;
};
LinearFit FitLine(const ExampleTable& table);

// Shows for classes the confusion matrix with precision, recall and F1 of each
// class, and for numbers the residuals. Says so when the trial reported
// neither.
std::string RenderConfusion(const v1::ExampleOutcomes& outcomes, int width);
std::string ConfusionToJson(const v1::ExampleOutcomes& outcomes);

// A titled list of examples, by index.
struct ExampleGroup {
  std::string title;
  std::vector<std::size_t> examples;
};
// Picks right and wrong examples, of each the ones with the highest and the
// lowest confidence; for numbers the largest residuals of the linear fit. Each
// group has at most `most`.
std::vector<ExampleGroup> PickExamples(const ExampleTable& table,
                                       std::size_t most);
std::string RenderExamples(const std::vector<ExampleGroup>& groups,
                           const ExampleTable& table,
                           const std::map<std::int64_t, std::string>& texts,
                           int width);

// The examples of a file of predictions (base/plain/predictions_file.h), with
// their texts.
class PredictedExamples {
 public:
  // Reads the examples that have a label. A line that does not fit its header
  // is skipped, because no trainer of ours writes one.
  explicit PredictedExamples(std::istream& file);

  const ExampleTable& table() const { return table_; }
  // Returns the text, with [brackets] around the word when examples are words.
  std::string TextOf(std::size_t example) const;

 private:
  void AddText(const std::vector<std::string>& columns, bool of_numbers);
  void AddWord(const std::vector<std::string>& columns);
  void AddClasses(const std::string& truth, const std::string& prediction,
                  const std::string& confidence);
  std::int32_t ClassOf(const std::string& name);

  ExampleTable table_;
  std::vector<std::vector<std::string>> texts_;  // for words: sentences
  // For each example: the index of the text, and of the word in it.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  bool of_words_ = false;
};

// Returns for a terminal what a decoder said to prompts whose answers are
// known, from a file of predictions: the first `most` that were wrong, and the
// first that were right, which is to the letter.
std::string RenderSaid(std::istream& file, std::size_t most, int width);

// Summarizes all tests against one setting in one sentence:
//
//   by test.accuracy against baseline: worse is head only (-24.8 points);
//   cannot be told apart: ALF-1 (-6.5 points), best found (+1.0 points),
//   where 9.4 points would have been seen; that one of these is not worse by
//   1.0 points or more is not shown
//
// For a single test, or for several reference settings, it returns the
// sentences of the tests themselves.
std::string SummaryOf(const v1::TrialComparison& comparison);

// Returns the findings, the mean of each contender, a row for each test, and
// what the numbers do not say.
std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_OUTCOMES_VIEW_H_
