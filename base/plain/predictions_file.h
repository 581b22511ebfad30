// SPDX-License-Identifier: Apache-2.0
//
// File: predictions_file.h
//
// The files with predictions, which a trainer writes into its trial's folder
// and an agent reads there:
//
//   predictions/test.tsv          of the test set
//   predictions/sst2/test.tsv     of the task sst2's test set
//
// A line has columns between tabs; the first line names them.
//
//   label  prediction  confidence  text  [second]     classes
//   label  prediction  text  [second]                 numbers
//   word   label  prediction  confidence              words; an empty line
//                                                     ends each sentence
#ifndef FROSTLINE_BASE_PLAIN_PREDICTIONS_FILE_H_
#define FROSTLINE_BASE_PLAIN_PREDICTIONS_FILE_H_

#include <string>
#include <string_view>

namespace frostline {

inline constexpr char kPredictionsFolder[] = "predictions";
inline constexpr std::string_view kWordColumn = "word";
inline constexpr std::string_view kTextColumn = "text";

// Returns a path below the attempt's folder. Ids may hold any character: those
// that could lead out of the folder are written as %2F and the like.
std::string PredictionsPath(std::string_view set, std::string_view task);

// Escapes a column: a tab becomes \t, the end of a line
// or \r, a backslash two.
std::string EscapeColumn(std::string_view text);
std::string UnescapeColumn(std::string_view column);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_PREDICTIONS_FILE_H_
