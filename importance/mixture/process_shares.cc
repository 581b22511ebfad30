// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/process_shares.h"

#include <algorithm>
#include <map>
#include <utility>

namespace frostline::importance {

ProcessShares::ProcessShares(const surrogate::EffectDraws& draws,
                             const MixtureModel& shares,
                             const std::vector<std::vector<int>>& groups)
    : draws_(draws), shares_(shares), groups_(groups) {
  std::map<surrogate::EffectDraws::Pair, std::size_t> place;
  for (std::size_t p = 0; p < draws.pairs.size(); ++p) {
    place[draws.pairs[p]] = p;
  }
  for (const AxisPair& pair : shares.pairs()) {
    place_of_pair_.push_back(place.at(pair));
  }
}

MixtureShares ProcessShares::SharesOf(std::size_t draw) const {
  const std::vector<double>& main = draws_.main[draw];
  const std::vector<double>& joint = draws_.joint[draw];
  const double higher = draws_.higher[draw];
  MixtureShares made;
  made.variance = higher;
  for (const double one : main) made.variance += one;
  for (const double one : joint) made.variance += one;
  const double unit = made.variance > 0.0 ? 1.0 / made.variance : 0.0;
  double rest = higher;
  for (std::size_t a = 0; a < main.size(); ++a) {
    made.main.push_back(main[a] * unit);
    made.total.push_back(made.main[a] + higher * draws_.higher_part[a] * unit);
  }
  for (std::size_t p = 0; p < joint.size(); ++p) {
    rest += joint[p];
    made.total[draws_.pairs[p].first] += joint[p] * unit;
    made.total[draws_.pairs[p].second] += joint[p] * unit;
  }
  for (const std::size_t p : place_of_pair_) {
    made.pairs.push_back(joint[p] * unit);
    rest -= joint[p];
  }
  made.unexplained = std::clamp(rest * unit, 0.0, 1.0);
  for (const std::vector<int>& group : groups_) {
    made.groups.push_back(Within(group, draw) * unit);
  }
  for (const std::vector<int>& subset : shares_.subsets()) {
    made.subsets.push_back(
        {Within(subset, draw) * unit, Beyond(subset, draw) * unit});
  }
  return made;
}

double ProcessShares::Within(std::vector<int> set, std::size_t draw) const {
  std::sort(set.begin(), set.end());
  std::vector<bool> inside(draws_.main[draw].size(), false);
  double sum = draws_.higher[draw] * HigherPart(set, false);
  for (const int a : set) {
    inside[static_cast<std::size_t>(a)] = true;
    sum += draws_.main[draw][static_cast<std::size_t>(a)];
  }
  for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
    const auto [a, b] = draws_.pairs[p];
    if (inside[a] && inside[b]) sum += draws_.joint[draw][p];
  }
  return sum;
}

double ProcessShares::Beyond(const std::vector<int>& set,
                             std::size_t draw) const {
  if (set.size() == 1) {
    return draws_.main[draw][static_cast<std::size_t>(set[0])];
  }
  if (set.size() == 2) {
    double sum = 0.0;
    for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
      const auto [a, b] = draws_.pairs[p];
      const bool is_it =
          std::minmax(static_cast<int>(a), static_cast<int>(b)) ==
          std::minmax(set[0], set[1]);
      if (is_it) sum += draws_.joint[draw][p];
    }
    return sum;
  }
  return draws_.higher[draw] * HigherPart(set, true);
}

double ProcessShares::HigherPart(std::vector<int> set, bool own) const {
  std::sort(set.begin(), set.end());
  if (set.size() < 3 || (own && set.size() > 3)) return 0.0;
  double e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (const int a : set) {
    const double v = draws_.joint_scale[static_cast<std::size_t>(a)];
    e3 += v * e2;
    e2 += v * e1;
    e1 += v;
  }
  double all1 = 0.0, all2 = 0.0, all3 = 0.0;
  for (const double v : draws_.joint_scale) {
    all3 += v * all2;
    all2 += v * all1;
    all1 += v;
  }
  return all3 > 0.0 ? e3 / all3 : 0.0;
}

}  // namespace frostline::importance
