// SPDX-License-Identifier: Apache-2.0
#include "server/wire/page_token.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/rng.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

// Catches a token used with another list or filter; it guards no secret.
std::uint64_t Seal(const std::string& list, const std::string& filter) {
  return Fnv1a(absl::StrCat(list, "\n", filter));
}

}  // namespace

int PageSize(int asked) {
  if (asked <= 0) return 100;
  return std::min(asked, kMaxPageSize);
}

std::string MakePageToken(const std::string& list, const std::string& filter,
                          std::int64_t after) {
  return absl::StrCat(absl::Hex(Seal(list, filter), absl::kZeroPad16), "-",
                      after);
}

absl::StatusOr<std::int64_t> ParsePageToken(const std::string& list,
                                            const std::string& filter,
                                            const std::string& token,
                                            std::int64_t first) {
  if (token.empty()) return first;
  const std::vector<std::string> parts =
      absl::StrSplit(token, absl::MaxSplits('-', 1));
  std::int64_t after = 0;
  const bool good = parts.size() == 2 &&
                    parts[0] == absl::StrCat(absl::Hex(Seal(list, filter),
                                                       absl::kZeroPad16)) &&
                    absl::SimpleAtoi(parts[1], &after) && after >= first;
  if (!good) {
    return MakeError(ErrorId::kPageTokenInvalid,
                     "the page token is not from this list and filter",
                     "start again without a token", "page_token");
  }
  return after;
}

}  // namespace frostline::server
