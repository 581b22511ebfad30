// SPDX-License-Identifier: Apache-2.0
//
// File: jsonl.h
//
// A line is one JSON object, whose keys are columns; a value is a string, a
// number, a boolean, or an array of strings (words, tags). Null and absence are
// the same. Empty lines are passed over.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_JSONL_H_
#define FROSTLINE_WORKER_TRAINER_DATA_JSONL_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/data/line_reader.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

Expected<std::unique_ptr<RowSource>> OpenJsonl(
    LineReader lines, const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_JSONL_H_
