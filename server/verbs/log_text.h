// SPDX-License-Identifier: Apache-2.0
//
// File: log_text.h
//
// A tail of a log is told with its end: how many bytes the log has had up to
// there. So bytes 900 to 1,000 are a tail of 100 with the end 1,000, of which
// 40 come after 960.
#ifndef FROSTLINE_SERVER_VERBS_LOG_TEXT_H_
#define FROSTLINE_SERVER_VERBS_LOG_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace frostline::server {

// Returns the end of `tail`, whole lines where that leaves anything.
std::string LastBytes(const std::string& tail, std::int64_t most);

// Returns what of `tail` comes after so many bytes: all of it where nothing is
// asked or `end` is 0, not known.
std::string TextAfter(const std::string& tail, std::int64_t end,
                      std::optional<std::int64_t> after);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_LOG_TEXT_H_
