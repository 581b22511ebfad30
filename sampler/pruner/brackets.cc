// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/brackets.h"

#include <cmath>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/plain/crc32.h"

namespace frostline::sampler {

std::size_t CountBrackets(std::int64_t min_resource, std::int64_t max_resource,
                          std::int64_t reduction) {
  const double ratio =
      static_cast<double>(max_resource) / static_cast<double>(min_resource);
  const double levels =
      std::log(ratio) / std::log(static_cast<double>(reduction));
  return static_cast<std::size_t>(std::floor(levels)) + 1;
}

std::vector<std::int64_t> BracketShares(std::size_t brackets,
                                        std::int64_t reduction) {
  const auto count = static_cast<std::int64_t>(brackets);
  std::vector<std::int64_t> shares(brackets);
  std::int64_t power = 1;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t sum = count * power;
    shares[static_cast<std::size_t>(count - 1 - s)] = (sum + s) / (s + 1);
    power *= reduction;
  }
  return shares;
}

std::size_t BracketOf(std::string_view study, std::int64_t number,
                      const std::vector<std::int64_t>& shares) {
  const std::int64_t sum =
      std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const std::string name =
      absl::StrCat(absl::string_view(study.data(), study.size()), "_", number);
  std::int64_t place =
      static_cast<std::int64_t>(Crc32(0, name.data(), name.size())) % sum;
  std::size_t bracket = 0;
  while (place >= shares[bracket]) place -= shares[bracket++];
  return bracket;
}

}  // namespace frostline::sampler
