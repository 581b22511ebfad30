// SPDX-License-Identifier: Apache-2.0
//
// File: compat_space.h
//
// As someone would write it for Optuna, levels are a categorical or an integer
// parameter, a rate that can be frozen is a choice `NAME.frozen` and, unless
// that is 1, a rate, for Optuna has no domain with an atom.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_

#include <string>
#include <vector>

#include "sampler/optuna/numpy.h"
#include "study/space.h"

namespace frostline::sampler {

enum class OptunaVersion { kV4, kV5 };

// A row goes by CompatParameter, with kAbsent where a trial has none.
using CompatRow = std::vector<double>;

struct CompatParameter {
  std::string name;
  Domain domain;            // never Levels, and LogUniform only without freeze
  std::size_t source = 0;   // in the space
  bool is_switch = false;   // 1: frozen
  bool has_switch = false;  // the parameter before this one
  bool is_single = false;   // one value, not drawn
};

class CompatSpace {
 public:
  CompatSpace(Space space, bool levels_are_integers);

  const Space& space() const { return space_; }
  const std::vector<CompatParameter>& parameters() const { return parameters_; }
  // They are in Optuna's order for what is drawn together.
  const std::vector<std::size_t>& by_name() const { return by_name_; }

  // REQUIRES: space().Check(point) is OK.
  CompatRow RowOf(const Point& point) const;

  // Says whether a trial with these values so far asks for parameter `i`.
  bool IsAsked(std::size_t i, const Point& point, const CompatRow& row) const;
  void Write(std::size_t i, double value, Point& point) const;

 private:
  Space space_;
  std::vector<CompatParameter> parameters_;
  std::vector<std::size_t> by_name_;
};

// Draws as Optuna's RandomSampler does.
double DrawCompatRandom(const Domain& domain, OptunaVersion version,
                        NumpyStream& stream);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_SPACE_H_
