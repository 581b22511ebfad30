// SPDX-License-Identifier: Apache-2.0
//
// File: counted.h
#ifndef FROSTLINE_CLI_VIEW_COUNTED_H_
#define FROSTLINE_CLI_VIEW_COUNTED_H_

#include <cstdint>
#include <string>

namespace frostline::cli {

// "1 worker", "2,000 workers". Where an s does not make `one` many, say what
// does: Counted(2, "study", "studies").
std::string Counted(std::int64_t count, const std::string& one,
                    const std::string& many = "");

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_COUNTED_H_
