// SPDX-License-Identifier: Apache-2.0
#include "base/request_id.h"

#include "absl/strings/str_cat.h"
#include "base/ids.h"

namespace frostline {

std::string NewRequestId(const Clock& clock) {
  const auto milliseconds = static_cast<std::uint64_t>(clock.Wall() / 1000);
  return absl::StrCat(absl::Hex(milliseconds, absl::kZeroPad12),
                      RandomHexId().substr(0, 20));
}

}  // namespace frostline
