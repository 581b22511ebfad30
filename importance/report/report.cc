// SPDX-License-Identifier: Apache-2.0
#include "importance/report.h"

namespace frostline::importance {

const PairImportance* FindPair(const std::vector<PairImportance>& pairs,
                               const std::vector<int>& subset) {
  if (subset.size() != 2) return nullptr;
  for (const PairImportance& pair : pairs) {
    if ((pair.first == subset[0] && pair.second == subset[1]) ||
        (pair.first == subset[1] && pair.second == subset[0])) {
      return &pair;
    }
  }
  return nullptr;
}

}  // namespace frostline::importance
