// SPDX-License-Identifier: Apache-2.0
//
// File: space.h
//
// A space has parameters, every parent before its children, and for every
// module the source of its learning rate. SpaceBuilder makes it.
//
//   layer.3 -> parameter 4 (levels 0, 2e-6, 2e-5), active while depth <= 3
//   head    -> fixed 1e-3
#ifndef FROSTLINE_STUDY_SPACE_H_
#define FROSTLINE_STUDY_SPACE_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline {

// A point has a number for every parameter, in order. Its meaning goes by the
// domain:
//   levels, categorical   the index of the level or choice
//   log-uniform           the rate itself; 0 is frozen
//   float, int            the value itself
// A parameter whose condition is not met is kAbsent.

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

// Domains are checked here, so that every input (RPC, study file, import) is
// refused for the same reasons in the same words.

inline constexpr std::int64_t kMaxChoices = 1'000;

inline constexpr int kMaxRank = 65'536;

// A list of rates. A first level of 0 means frozen. Or a list of ranks of an
// adapter, whole numbers, of which 0 is none: frozen, too.
struct Levels {
  std::vector<double> rates;  // strictly rising, finite, >= 0
  bool are_ranks = false;
};

// A range of rates. With `freeze`, 0 is a value too and means frozen.
struct LogUniform {
  double lo = 0.0;  // > 0
  double hi = 0.0;  // > lo
  bool freeze = false;
};

struct FloatRange {
  double lo = 0.0;
  double hi = 0.0;
  double step = 0.0;  // 0: continuous
  bool log = false;
};

struct IntRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t step = 1;
  bool log = false;
};

// A list of choices, each a JSON literal: "\"adam\"", "16", "true", "null".
struct Categorical {
  std::vector<std::string> choices;
};

using Domain =
    std::variant<Levels, LogUniform, FloatRange, IntRange, Categorical>;

// Checks a domain. Errors name `field`, such as "space.modules[3].levels".
absl::Status CheckDomain(const Domain& domain, const std::string& field);

// Says whether a domain holds a value, which is encoded as a point has it.
bool Contains(const Domain& domain, double value);

// Returns the number of values; infinity for a continuous domain.
double CountValues(const Domain& domain);

// Returns all values, rising. REQUIRES: CountValues is finite.
std::vector<double> ListValues(const Domain& domain);

// Says whether 0 is a value, at which a module is frozen.
bool FreezesByValue(const Domain& domain);

// Returns "frozen", "2e-05", "16", "\"adam\"", of ranks "none", "8".
std::string FormatValue(const Domain& domain, double value);

inline constexpr int kMaxParameters = 512;
inline constexpr int kMaxConditionDepth = 8;

// When a parameter is there: if the parent has one of `values` (as a point has
// it) or, without such values, lies in [min, max].
struct Condition {
  int parent = 0;  // before this parameter
  std::vector<double> values;
  double min = 0.0;
  double max = 0.0;
};

struct Parameter {
  std::string name;
  Domain domain;
  std::optional<Condition> condition;
};

// Of a module whose weights stay, and of which an adapter trains.
struct AdapterBinding {
  int rank_parameter = 0;
  std::optional<int> rate_parameter = {};  // else as without an adapter
};

// Where the rate of a module comes from: a parameter (frozen if that is absent)
// or a fixed number.
struct ModuleBinding {
  std::string module;  // "embeddings", "layer.3", "layer.3.ffn"
  // Its own: of its rate or, with an adapter, the one of the two that can
  // freeze it, the rank if none can.
  std::optional<int> parameter;
  double fixed_rate = 0.0;
  // A layer is frozen at a prefix depth above this.
  std::optional<int> frozen_above_depth;
  // Instead of both: the base rate, times the decay, this many times.
  std::optional<int> decay_steps = {};
  std::optional<AdapterBinding> adapter = {};
};

// The rates of the modules with decay_steps. Each number comes from a parameter
// or is fixed. A decay whose parameter is inactive changes nothing.
struct LayerwiseDecay {
  std::optional<int> base_parameter;
  double base_rate = 0.0;
  std::optional<int> decay_parameter;
  double decay = 1.0;
};

struct ModuleRate {
  std::string module;
  double rate = 0.0;  // 0 = frozen
  // Of the adapter that trains in place of the weights; 0: none.
  std::optional<int> rank = {};
};

// The parameters and modules that a study searches. Any thread may use it.
class Space {
 public:
  Space() = default;
  // SpaceBuilder checks, not this.
  Space(std::vector<Parameter> parameters, std::vector<ModuleBinding> modules,
        std::optional<int> prefix_depth,
        const std::optional<LayerwiseDecay>& decay = {});

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<ModuleBinding>& modules() const { return modules_; }
  std::optional<int> prefix_depth() const { return prefix_depth_; }
  const std::optional<LayerwiseDecay>& decay() const { return decay_; }
  int size() const { return static_cast<int>(parameters_.size()); }

  std::optional<int> IndexOf(const std::string& name) const;

  // Looks only at the parameter's ancestors.
  bool IsActive(int i, const Point& point) const;
  bool HasConditions() const;

  // Fails with VALUE_OUT_OF_SPACE unless active parameters have values in their
  // domains, and no others have any.
  absl::Status Check(const Point& point) const;

  // Makes inactive parameters absent.
  Point Canonical(Point point) const;

  // They are in model order.
  std::vector<ModuleRate> Rates(const Point& point) const;

  // The same of modules()[module] alone.
  double RateAt(std::size_t module, const Point& point) const;
  // Nothing where the weights train; 0 where the adapter is frozen.
  std::optional<int> RankAt(std::size_t module, const Point& point) const;
  bool IsFrozen(std::size_t module, const Point& point) const {
    return RateAt(module, point) == 0.0;
  }

  // Infinite of a continuous domain; else exact, up to 10,000 values a parent.
  double CountPoints() const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<ModuleBinding> modules_;
  std::optional<int> prefix_depth_;
  std::optional<LayerwiseDecay> decay_;
};

// Every module keeps its rate and rank, every other parameter the value of its
// name, as far as `to` names them. It answers nothing when `to` has no such
// point (a rate is none of its levels), or searches what `from` does not know.
std::optional<Point> TranslatePoint(const Space& from, const Point& point,
                                    const Space& to);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_SPACE_H_
