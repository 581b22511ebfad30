// SPDX-License-Identifier: Apache-2.0
//
// File: study_file.h
//
// The fields of StudySpec and StudySettings stand at one level, with the short
// forms of yaml_sugar.h and four keys more:
//
//   id: imdb                  the study's id; without it, the file's name
//   objective: accuracy       one well-known metric, its direction understood
//   maximize: accuracy        } one metric or a list; both together
//   minimize: train_seconds   } search the Pareto set
//
// Errors start with FILE:LINE:COLUMN. The coordinator judges what a study means
// (modules that exist, levels that rise); PlaceError places its verdict.
#ifndef FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_
#define FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/study_file/yaml_to_proto.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

struct StudyFile {
  std::string file;  // as named by the user
  std::string id;
  v1::StudySpec spec;
  v1::StudySettings settings;
  FieldPlaces places;
};

// Takes "-" for standard input. It answers REQUEST_INVALID for a missing file.
absl::StatusOr<StudyFile> ReadStudyFile(const std::string& path);

absl::StatusOr<StudyFile> ParseStudyFile(const std::string& text,
                                         const std::string& file);

// Takes what was read already, as a part of a larger file is.
absl::StatusOr<StudyFile> ReadStudyTree(const YamlPtr& root,
                                        const std::string& file);

// Puts before the cause the place of the field that `error` names, or of the
// nearest one around it in the file.
absl::Status PlaceError(const absl::Status& error, const StudyFile& study);

// Writes the study file of somebody's first search on data of their own: small,
// with a line to change for each thing that a larger
// one does otherwise.

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

#endif  // FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_
