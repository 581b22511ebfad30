// SPDX-License-Identifier: Apache-2.0
//
// File: named_words.h
//
// What only a trial could tell of a study's words before: kinds of tasks, maps
// that have adapters, sets that are too many, modules that no task freezes.
// What the trainer takes is in base/plain/training_table.h.
#ifndef FROSTLINE_SERVER_WIRE_NAMED_WORDS_H_
#define FROSTLINE_SERVER_WIRE_NAMED_WORDS_H_

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Answers REQUEST_INVALID naming the field. Only new studies are checked.
absl::Status CheckNamedWords(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_NAMED_WORDS_H_
