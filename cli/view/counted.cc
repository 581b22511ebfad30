// SPDX-License-Identifier: Apache-2.0
#include "cli/view/counted.h"

#include "absl/strings/str_cat.h"
#include "cli/view/format.h"

namespace frostline::cli {

std::string Counted(std::int64_t count, const std::string& one,
                    const std::string& many) {
  const std::string others = many.empty() ? one + "s" : many;
  return absl::StrCat(FormatCount(count), " ", count == 1 ? one : others);
}

}  // namespace frostline::cli
