// SPDX-License-Identifier: Apache-2.0
//
// File: point.h
//
// A point has a number for every parameter, in order. Its meaning goes by the
// domain (space.h):
//   levels, categorical   the index of the level or choice
//   log-uniform           the rate itself; 0 is frozen
//   float, int            the value itself
// A parameter whose condition is not met is kAbsent.
#ifndef FROSTLINE_STUDY_POINT_H_
#define FROSTLINE_STUDY_POINT_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace frostline {

// It is the only NaN in a Point.
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
inline bool IsAbsent(double value) { return std::isnan(value); }

using Point = std::vector<double>;

// Says whether two points are equal. Absent equals absent, unlike with ==.
inline bool SamePoint(const Point& a, const Point& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_absent = IsAbsent(a[i]) && IsAbsent(b[i]);
    if (!both_absent && a[i] != b[i]) return false;
  }
  return true;
}

// Returns a hash. -0.0 and 0.0 have the same one, as they are equal.
inline std::uint64_t HashPoint(const Point& point) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const double value : point) {
    const std::uint64_t bits =
        IsAbsent(value) ? ~0u : std::bit_cast<std::uint64_t>(value + 0.0);
    hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

// Numbers for the points of some trials: equal points share one.
//
// Keeps pointers to the points it was asked about. It has one owner and is not
// thread-safe.
class PointPlaces {
 public:
  // Returns the place of a point. A new point gets the next one.
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

#endif  // FROSTLINE_STUDY_POINT_H_
