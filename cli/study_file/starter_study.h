// SPDX-License-Identifier: Apache-2.0
//
// File: starter_study.h
//
// Writes the study file of somebody's first search on data of their own: small,
// with a line to change for each thing that a larger
// one does otherwise.
#ifndef FROSTLINE_CLI_STUDY_FILE_STARTER_STUDY_H_
#define FROSTLINE_CLI_STUDY_FILE_STARTER_STUDY_H_

#include <cstdint>
#include <string>

namespace frostline::cli {

struct StarterFacts {
  std::string id;
  std::string model;
  std::int64_t layers = 0;
  std::int64_t longest_text = 0;  // of the model, in tokens
  std::string data;
  std::string task;  // "classification", "regression", "tagging", "pair"
  std::int64_t rows = 0;
  bool has_validation = false;
  double largest_class = 0.0;    // its share of the rows
  std::int64_t text_tokens = 0;  // most texts have no more
  int trials = 24;
};

struct StarterStudy {
  std::string text;  // of the file
  std::int64_t train_rows = 0;
  std::int64_t max_length = 0;
  std::string metric;
};

StarterStudy WriteStarterStudy(const StarterFacts& facts);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_STARTER_STUDY_H_
