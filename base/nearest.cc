// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace frostline {
namespace {

// Longer words are data, not typing mistakes; this also limits the work.
constexpr std::size_t kLongestWord = 64;

}  // namespace

int TypingDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> best(a.size() + 1,
                                     std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        best[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int changed = a[i - 1] == b[j - 1] ? 0 : 1;
      best[i][j] = std::min({best[i - 1][j] + 1, best[i][j - 1] + 1,
                             best[i - 1][j - 1] + changed});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
    }
  }
  return best[a.size()][b.size()];
}

std::string Nearest(const std::string& typed,
                    const std::vector<std::string>& words) {
  if (typed.empty() || typed.size() > kLongestWord) return "";
  // A third of the letters may be wrong, but never all of a short word's.
  int limit = std::max(1, static_cast<int>(typed.size()) / 3);
  std::string nearest;
  for (const std::string& word : words) {
    const int distance = TypingDistance(typed, word);
    if (distance > limit) continue;
    nearest = word;
    limit = distance - 1;
  }
  return nearest;
}

std::string Suggest(const std::string& typed,
                    const std::vector<std::string>& words) {
  const std::string nearest = Nearest(typed, words);
  if (!nearest.empty()) return absl::StrCat("did you mean '", nearest, "'?");
  return absl::StrCat("use one of ", absl::StrJoin(words, ", "));
}

}  // namespace frostline
