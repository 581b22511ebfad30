// SPDX-License-Identifier: Apache-2.0
//
// File: point_places.h
//
// Numbers the points of some trials: equal points share a place.
#ifndef FROSTLINE_STUDY_POINT_PLACES_H_
#define FROSTLINE_STUDY_POINT_PLACES_H_

#include <cstddef>
#include <unordered_map>

#include "study/point.h"

namespace frostline {

// Keeps pointers to the points it was asked about. It has one owner and is not
// thread-safe.
class PointPlaces {
 public:
  // Answers size(), which grows, for a point that is new.
  std::size_t PlaceOf(const Point& point) {
    return places_.try_emplace(&point, places_.size()).first->second;
  }
  std::size_t size() const { return places_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Point* point) const {
      return HashPoint(*point);
    }
  };
  struct Same {
    bool operator()(const Point* a, const Point* b) const {
      return SamePoint(*a, *b);
    }
  };
  std::unordered_map<const Point*, std::size_t, Hash, Same> places_;
};

}  // namespace frostline

#endif  // FROSTLINE_STUDY_POINT_PLACES_H_
