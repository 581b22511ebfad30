// SPDX-License-Identifier: Apache-2.0
//
// File: predicted_examples.h
//
// Reads a file of predictions (base/plain/predictions_file.h) as the examples
// that outcomes_view.h picks from.
#ifndef FROSTLINE_CLI_VIEW_PREDICTED_EXAMPLES_H_
#define FROSTLINE_CLI_VIEW_PREDICTED_EXAMPLES_H_

#include <cstddef>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "cli/view/outcomes_view.h"

namespace frostline::cli {

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

#endif  // FROSTLINE_CLI_VIEW_PREDICTED_EXAMPLES_H_
