// SPDX-License-Identifier: Apache-2.0
//
// File: compat_space.h
//
// A space as someone would write it for Optuna. Learning-rate levels are a
// categorical parameter, or an integer one; a log-uniform rate that can be
// frozen is two parameters, a choice `NAME.frozen` and, unless it is frozen,
// the rate, for Optuna has no domain with an atom.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_

#include <string>
#include <vector>

#include "sampler/optuna/numpy_stream.h"
#include "study/space.h"

namespace frostline::sampler {

enum class OptunaVersion { kV4, kV5 };

// A number for each CompatParameter; kAbsent when a trial has no value for it.
using CompatRow = std::vector<double>;

struct CompatParameter {
  std::string name;
  Domain domain;            // never Levels, and LogUniform only without freeze
  std::size_t source = 0;   // in the space
  bool is_switch = false;   // 1: frozen
  bool has_switch = false;  // the parameter before this one
  bool is_single = false;   // has one value, which is not drawn
};

class CompatSpace {
 public:
  CompatSpace(Space space, bool levels_are_integers);

  const Space& space() const { return space_; }
  // In the order in which a trial asks for them: the space's.
  const std::vector<CompatParameter>& parameters() const { return parameters_; }
  // Indices into parameters() by name, as Optuna orders what it draws together.
  const std::vector<std::size_t>& by_name() const { return by_name_; }

  // REQUIRES: space().Check(point) is OK.
  CompatRow RowOf(const Point& point) const;

  // Whether a trial with these values so far asks for parameter `i`.
  bool IsAsked(std::size_t i, const Point& point, const CompatRow& row) const;
  // Writes the value of parameter `i` into the point.
  void Write(std::size_t i, double value, Point& point) const;

 private:
  Space space_;
  std::vector<CompatParameter> parameters_;
  std::vector<std::size_t> by_name_;
};

// What Optuna's RandomSampler draws.
double DrawCompatRandom(const Domain& domain, OptunaVersion version,
                        NumpyStream& stream);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_
