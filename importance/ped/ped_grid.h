// SPDX-License-Identifier: Apache-2.0
//
// File: ped_grid.h
#ifndef FROSTLINE_IMPORTANCE_PED_PED_GRID_H_
#define FROSTLINE_IMPORTANCE_PED_PED_GRID_H_

#include <cstdint>
#include <vector>

#include "study/space.h"

namespace frostline::importance {

class PedGrid {
 public:
  // `compares_places` compares as Optuna 4 does, not divides; they differ in
  // the last bit of a middle.
  PedGrid(const Domain& domain, bool compares_places);

  std::size_t size() const { return size_; }
  // Is true of numbers, not of choices and levels.
  bool has_neighbours() const { return has_neighbours_; }
  // Gives a middle to the lower place. It knows neither absent nor frozen.
  std::uint16_t PlaceOf(double value) const;

 private:
  std::size_t size_ = 1;
  bool has_neighbours_ = false;
  bool log_ = false;
  bool compares_places_ = false;
  double low_ = 0.0;
  double half_step_ = 1.0;
  std::vector<double> places_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PED_PED_GRID_H_
