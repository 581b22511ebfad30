// SPDX-License-Identifier: Apache-2.0
//
// File: csv.h
//
// RFC 4180 asks for quotes where needed and CR LF; numbers have dots whatever
// the locale.
#ifndef FROSTLINE_CLI_TERM_CSV_H_
#define FROSTLINE_CLI_TERM_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

namespace frostline::cli {

// Ends the line too.
std::string CsvLine(const std::vector<std::string>& cells);

// Returns the shortest text that reads back the same; NaN is "", infinities are
// "inf" and "-inf".
std::string CsvNumber(double value);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_CSV_H_
