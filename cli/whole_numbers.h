// SPDX-License-Identifier: Apache-2.0
//
// File: whole_numbers.h
#ifndef FROSTLINE_CLI_WHOLE_NUMBERS_H_
#define FROSTLINE_CLI_WHOLE_NUMBERS_H_

#include <CLI/CLI.hpp>

namespace frostline::cli {

// Makes every option for whole numbers, of `app` and all commands below it,
// accept only decimal numbers. CLI11 itself reads 010 as eight and -1 as
// 18446744073709551615. Call it after all options are added.
void TakeDecimalAlone(CLI::App& app);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_WHOLE_NUMBERS_H_
