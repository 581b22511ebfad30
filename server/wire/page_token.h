// SPDX-License-Identifier: Apache-2.0
//
// File: page_token.h
#ifndef FROSTLINE_SERVER_WIRE_PAGE_TOKEN_H_
#define FROSTLINE_SERVER_WIRE_PAGE_TOKEN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::server {

// It is below what gRPC clients take by default (4 MiB), above any one trial or
// study.
inline constexpr std::size_t kMostPageBytes = 3 * 1024 * 1024;

// Takes 0 for 100, and gives at most 1,000.
int PageSize(int asked);

std::string MakePageToken(const std::string& list, const std::string& filter,
                          std::int64_t after);

// Returns `first` for an empty token, PAGE_TOKEN_INVALID for one of another
// list or filter.
absl::StatusOr<std::int64_t> ParsePageToken(const std::string& list,
                                            const std::string& filter,
                                            const std::string& token,
                                            std::int64_t first = 0);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_PAGE_TOKEN_H_
