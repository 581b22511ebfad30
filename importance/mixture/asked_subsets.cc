// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/asked_subsets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace frostline::importance {
namespace {

bool IsWithin(const EffectTerm& term, const std::vector<std::size_t>& axes) {
  return std::includes(axes.begin(), axes.end(), term.begin(), term.end());
}

}  // namespace

std::vector<AskedSubset> FindAsked(const LevelEffects& model,
                                   const std::vector<AxisPair>& pairs,
                                   const NamedSubsets& subsets) {
  std::vector<AskedSubset> found;
  found.reserve(subsets.size());
  for (const std::vector<int>& subset : subsets) {
    AskedSubset asked;
    asked.axes.assign(subset.begin(), subset.end());
    std::sort(asked.axes.begin(), asked.axes.end());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (IsWithin({pairs[p].first, pairs[p].second}, asked.axes)) {
        asked.pairs.push_back(p);
      }
    }
    for (std::size_t t = 0; t < model.terms().size(); ++t) {
      const EffectTerm& term = model.terms()[t];
      if (term.size() < 3 || !IsWithin(term, asked.axes)) continue;
      asked.terms.push_back(t);
      if (term == asked.axes) asked.is_sought = true;
    }
    for (const LeftOutTerm& one : model.left_out()) {
      if (one.term == asked.axes) asked.is_sought = true;
    }
    found.push_back(std::move(asked));
  }
  return found;
}

LeftOutEvidence LeftOutWithin(const LevelEffects& model,
                              const std::vector<int>& subset, bool own) {
  EffectTerm axes(subset.begin(), subset.end());
  std::sort(axes.begin(), axes.end());
  LeftOutEvidence found;
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    if (own ? one.term != axes : !IsWithin(one.term, axes)) continue;
    found.evidence.variance += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
    found.functions += static_cast<double>(WidthOf(model.axes(), one.term));
  }
  found.evidence.deviation = std::sqrt(squares);
  return found;
}

}  // namespace frostline::importance
