// SPDX-License-Identifier: Apache-2.0
//
// File: column_names.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_COLUMN_NAMES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_COLUMN_NAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

// Counts from 0. A name goes before a number, which counts from 1. Returns
// nothing where neither is there, or a name is there twice.
std::optional<std::size_t> FindColumn(const std::vector<std::string>& names,
                                      std::size_t width,
                                      std::string_view column);

Fault MissingColumn(const std::string& file, std::string_view column,
                    const std::vector<std::string>& names, std::size_t width);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_COLUMN_NAMES_H_
