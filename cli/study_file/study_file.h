// SPDX-License-Identifier: Apache-2.0
//
// File: study_file.h
//
// Study files. The fields of StudySpec and StudySettings are at the top level,
// with the short forms of yaml_sugar.h and four more keys:
//
//   id: imdb                  the study's id; without it, the file's name
//   objective: accuracy       one well-known metric, its direction understood
//   maximize: accuracy        } one metric or a list; both together
//   minimize: train_seconds   } search the Pareto set
//
// Errors start with FILE:LINE:COLUMN. The coordinator checks the meaning of a
// study (whether modules exist and levels rise); PlaceError() adds the place to
// its errors.
#ifndef FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_
#define FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/study_file/yaml_to_proto.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// A study file that was read, with the places of its fields.
struct StudyFile {
  std::string file;  // as the user named it
  std::string id;
  v1::StudySpec spec;
  v1::StudySettings settings;
  FieldPlaces places;
};

// Reads a study file; "-" is standard input. Returns REQUEST_INVALID for a
// missing file.
absl::StatusOr<StudyFile> ReadStudyFile(const std::string& path);

absl::StatusOr<StudyFile> ParseStudyFile(const std::string& text,
                                         const std::string& file);

// Makes a study file from YAML that was parsed already, as part of a larger
// file.
absl::StatusOr<StudyFile> ReadStudyTree(const YamlPtr& root,
                                        const std::string& file);

// Adds to the cause of `error` the place of the field that it names, or of the
// nearest field around it in the file.
absl::Status PlaceError(const absl::Status& error, const StudyFile& study);

// The study file of a user's first search on their own data. It is small and
// has a line to change for each choice of a larger search.

// What is known about the user's data and model.
struct StarterFacts {
  std::string id;
  std::string model;
  std::int64_t layers = 0;
  bool has_pooler = true;
  std::int64_t longest_text = 0;  // tokens that the model accepts
  std::string data;
  std::string task;  // "classification", "regression", "tagging", "pair"
  std::int64_t rows = 0;
  bool has_validation = false;
  double largest_class = 0.0;    // as a share of the rows
  std::int64_t text_tokens = 0;  // most texts are not longer
  int trials = 24;
};

struct StarterStudy {
  std::string text;  // the file's text
  std::int64_t train_rows = 0;
  std::int64_t held_out_rows = 0;  // 0: the data bring their own
  std::int64_t max_length = 0;
  std::string metric;
};

// Says in a sentence or two what the study's budget and rows can tell.
std::string WhatItCanTell(const StarterFacts& facts, const StarterStudy& study);

StarterStudy WriteStarterStudy(const StarterFacts& facts);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_STUDY_FILE_H_
