// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/starter_study.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace frostline::cli {
namespace {

// Rows times length, so that long texts do not make a first look long.
constexpr std::int64_t kTokensOfAnEpoch = 12'000;
constexpr std::int64_t kLeastRows = 200;
constexpr std::int64_t kMostRows = 2'000;
constexpr std::int64_t kHeldOut = 200;
constexpr std::int64_t kLongest = 128;
constexpr std::int64_t kStep = 8;  // of lengths
// Where one class is most of the rows, to guess it always is nearly right.
constexpr double kLopsided = 0.8;
constexpr std::int64_t kDeep = 12;  // layers; such models want lower rates

std::string StarterMetricOf(const StarterFacts& facts) {
  if (facts.task == "regression") return "rmse";
  if (facts.task == "tagging") return "f1";
  return facts.largest_class > kLopsided ? "f1_macro" : "accuracy";
}

std::int64_t LengthFor(const StarterFacts& facts) {
  const std::int64_t whole = (facts.text_tokens + kStep - 1) / kStep * kStep;
  return std::min({std::max(whole, 2 * kStep), kLongest, facts.longest_text});
}

// A tenth to a fifth of few rows; of many no more than tell trials apart.
double HeldOutShare(std::int64_t rows) {
  const double share = static_cast<double>(kHeldOut) /
                       static_cast<double>(std::max<std::int64_t>(rows, 1));
  return std::min(share, 0.2);
}

std::int64_t RowsFor(const StarterFacts& facts, std::int64_t length) {
  const std::int64_t affordable =
      std::clamp(kTokensOfAnEpoch / length, kLeastRows, kMostRows);
  double left = static_cast<double>(facts.rows);
  if (!facts.has_validation) left *= 1.0 - HeldOutShare(facts.rows);
  return std::min(affordable, static_cast<std::int64_t>(left));
}

std::string DataText(const StarterFacts& facts, std::int64_t train_rows) {
  std::string text =
      absl::StrCat("data:\n  id: ", facts.data, "\n  task: ", facts.task, "\n");
  if (!facts.has_validation) {
    absl::StrAppendFormat(
        &text, "  validation_share: %.3g           # of the training rows\n",
        HeldOutShare(facts.rows));
  }
  if (train_rows < facts.rows) {
    absl::StrAppend(&text, "  train_rows: ", train_rows,
                    "                 # a balanced sample, for a first look\n");
  }
  return text;
}

}  // namespace

StarterStudy WriteStarterStudy(const StarterFacts& facts) {
  StarterStudy study;
  study.metric = StarterMetricOf(facts);
  study.max_length = LengthFor(facts);
  study.train_rows = RowsFor(facts, study.max_length);
  const bool deep = facts.layers >= kDeep;
  study.text = absl::StrCat(
      "# Written by `frostline init`; what each line may say:\n"
      "# docs/reference/study-file.md. More trials and more rows tell more.\n"
      "id: ",
      facts.id, "\nmodel: {id: ", facts.model, ", layers: ", facts.layers,
      "}\n", DataText(facts, study.train_rows),
      study.metric == "rmse" ? "minimize: " : "maximize: ", study.metric,
      "\nbudget: ", facts.trials, "\nseed: 1\n",
      "sampler: auto                   # what suits this space and budget\n\n",
      "training:\n  epochs: 2\n  batch_size: 32\n  max_length: ",
      study.max_length,
      "                  # tokens; longer texts are cut\n"
      "  warmup_share: 0.1\n  evaluate_every_steps: 1000     # once, at the "
      "end\n  report_example_outcomes: true  # so trials compare row by row\n\n"
      "# 0 freezes a module; every other number is a learning rate.\n"
      "space:\n  modules:\n    embeddings: &rates ",
      deep ? "[0, 1e-5, 3e-5, 1e-4]" : "[0, 2e-5, 1e-4, 3e-4, 1e-3]",
      "\n    \"layer.*\": *rates\n  default: {head_only: ",
      deep ? "1e-4" : "1e-3", "}     # what is new to the task\n");
  return study;
}

}  // namespace frostline::cli
