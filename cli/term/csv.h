// SPDX-License-Identifier: Apache-2.0
//
// File: csv.h
//
// Comma-separated values for programs (RFC 4180): quotes where they are
// needed, dots in numbers whatever the locale, lines that end in CR LF.
#ifndef FROSTLINE_CLI_TERM_CSV_H_
#define FROSTLINE_CLI_TERM_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

namespace frostline::cli {

// A line, with its end.
std::string CsvLine(const std::vector<std::string>& cells);

// The shortest text that reads back as the same number; "" for NaN, "inf" and
// "-inf" for the infinities.
std::string CsvNumber(double value);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_CSV_H_
