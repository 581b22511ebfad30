// SPDX-License-Identifier: Apache-2.0
//
// File: csv.h
//
// Comma-separated values (RFC 4180): quotes where needed, dots in numbers
// whatever the locale, CR LF.
#ifndef FROSTLINE_CLI_TERM_CSV_H_
#define FROSTLINE_CLI_TERM_CSV_H_

#include <cstdint>
#include <string>
#include <vector>

namespace frostline::cli {

// With its end.
std::string CsvLine(const std::vector<std::string>& cells);

// The shortest text that reads back the same; "" for NaN, "inf", "-inf".
std::string CsvNumber(double value);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_CSV_H_
