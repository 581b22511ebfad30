// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_search.h
//
// Of candidates drawn from l the search takes the one of largest expected
// improvement, and its neighbours. With gamma the share of good trials,
// improvement goes up with 1 / (gamma + (1 - gamma) g/l) (Bergstra et al.,
// 2011, eq. 4), so without costs l/g decides, and with them that divided by the
// seconds of the trial (Snoek et al., NeurIPS 2012, section 3.2).
//
// Points tried as often as `dedup` allows are not chosen: the best untried
// candidate is or, where all were tried, the best untried neighbour of the
// best; then any.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_SEARCH_H_
#define FROSTLINE_SAMPLER_TPE_TPE_SEARCH_H_

#include <optional>
#include <stop_token>
#include <vector>

#include "sampler/cost.h"
#include "sampler/tpe/tpe_model.h"
#include "sampler/tpe/untried_points.h"

namespace frostline::sampler {

struct TpeQuestion {
  TpeModel& model;
  const CellTable& table;
  const Point* own = nullptr;       // of the trial itself: no duplicate
  const CostModel* cost = nullptr;  // nullptr: all cost the same
  std::size_t candidates = 32;
  int improve = 1;
  std::stop_token stop = {};  // ends the search for candidates
};

// It keeps references.
class TpeSearch {
 public:
  TpeSearch(const Space& space, const std::vector<CellAxis>& axes,
            const TpeOptions& options);

  Point Choose(const TpeQuestion& question, Rng& rng) const;
  // Draws from the prior any point, but an untried one while there is one.
  Point DrawUntried(const CellTable& table, const Point* own, Rng& rng) const {
    return untried_.Draw(table, own, rng);
  }

 private:
  struct Candidate {
    Point point;
    CellRow cells;
    double score = 0.0;
  };

  Candidate Draw(const CellDensity& good, Rng& rng) const;
  double Score(const TpeQuestion& question, double good, double rest,
               double failed, const Point& point) const;
  double ScoreOf(const TpeQuestion& question, const Candidate& x) const;
  // Returns the best untried point that differs in one parameter, if it is
  // better than `least`.
  std::optional<Candidate> BestNeighbour(const TpeQuestion& question,
                                         const Candidate& from, double least,
                                         Rng& rng) const;

  const Space& space_;
  const std::vector<CellAxis>& axes_;
  const TpeOptions& options_;
  UntriedPoints untried_;
  std::vector<bool> movable_;  // exact, and nothing hangs on it
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_SEARCH_H_
