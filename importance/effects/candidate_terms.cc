// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/candidate_terms.h"

#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

// Pairs, and triples, are sought among so many axes of the largest effect.
constexpr std::size_t kMaxPairAxes = 64;
constexpr std::size_t kMaxTripleAxes = 14;
constexpr std::size_t kMaxTripleCells = 1000;
constexpr std::size_t kMinTrialsForPairs = 20;
constexpr std::size_t kMinTrialsForTriples = 60;

// The first so many axes by falling `weight`, in their own order.
std::vector<std::size_t> Heaviest(const std::vector<EffectAxis>& axes,
                                  const std::vector<double>& weight,
                                  std::size_t most) {
  const std::vector<int> ranks = RankByFalling(weight);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].functions > 0 && ranks[i] <= static_cast<int>(most)) {
      kept.push_back(i);
    }
  }
  return kept;
}

}  // namespace

std::vector<EffectTerm> CandidateTerms(const std::vector<EffectAxis>& axes,
                                       const std::vector<double>& weight,
                                       std::size_t rows) {
  std::vector<EffectTerm> terms;
  if (rows < kMinTrialsForPairs) return terms;
  const auto paired = Heaviest(axes, weight, kMaxPairAxes);
  for (std::size_t a = 0; a < paired.size(); ++a) {
    for (std::size_t b = a + 1; b < paired.size(); ++b) {
      terms.push_back({paired[a], paired[b]});
    }
  }
  if (rows < kMinTrialsForTriples) return terms;
  const auto tripled = Heaviest(axes, weight, kMaxTripleAxes);
  for (std::size_t a = 0; a < tripled.size(); ++a) {
    for (std::size_t b = a + 1; b < tripled.size(); ++b) {
      for (std::size_t c = b + 1; c < tripled.size(); ++c) {
        const std::size_t cells = axes[tripled[a]].cells() *
                                  axes[tripled[b]].cells() *
                                  axes[tripled[c]].cells();
        if (cells > kMaxTripleCells) continue;
        terms.push_back({tripled[a], tripled[b], tripled[c]});
      }
    }
  }
  return terms;
}

}  // namespace frostline::importance
