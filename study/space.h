// SPDX-License-Identifier: Apache-2.0
//
// File: space.h
//
// A search space, resolved: parameters in an order in which every parent comes
// before its children, and for every module of the model where its learning
// rate comes from. Made by SpaceBuilder (space_builder.h), immutable after.
//
//   layer.3 -> parameter 4 (levels 0, 2e-6, 2e-5), active while depth <= 3
//   head    -> fixed 1e-3
#ifndef FROSTLINE_STUDY_SPACE_H_
#define FROSTLINE_STUDY_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "study/domain.h"
#include "study/point.h"

namespace frostline {

inline constexpr int kMaxParameters = 512;
inline constexpr int kMaxConditionDepth = 8;

// Met when the parent has a value and it is one of `values` (encoded as in
// point.h) or, where `values` is empty, within [min, max].
struct Condition {
  int parent = 0;  // index of a parameter before this one
  std::vector<double> values;
  double min = 0.0;
  double max = 0.0;
};

struct Parameter {
  std::string name;
  Domain domain;
  std::optional<Condition> condition;
};

// Where a module's learning rate comes from: a parameter, or a fixed rate.
// A parameter that is absent from a point leaves the module frozen.
struct ModuleBinding {
  std::string module;  // "embeddings", "layer.3", "layer.3.ffn", "head"
  std::optional<int> parameter;
  double fixed_rate = 0.0;
  // The module is frozen when the prefix depth is above this; layers only.
  std::optional<int> frozen_above_depth;
};

struct ModuleRate {
  std::string module;
  double rate = 0.0;  // 0 = frozen
};

// Immutable; any thread may use it.
class Space {
 public:
  Space() = default;
  // SpaceBuilder checks what is handed in here.
  Space(std::vector<Parameter> parameters, std::vector<ModuleBinding> modules,
        std::optional<int> prefix_depth);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<ModuleBinding>& modules() const { return modules_; }
  // Index of the prefix-depth parameter, where the space has one.
  std::optional<int> prefix_depth() const { return prefix_depth_; }
  int size() const { return static_cast<int>(parameters_.size()); }

  std::optional<int> IndexOf(const std::string& name) const;

  // Whether parameter i has a value in `point`; looks only at its ancestors.
  bool IsActive(int i, const Point& point) const;
  bool HasConditions() const;

  // OK when every active parameter has a value in its domain and every other
  // is absent; else VALUE_OUT_OF_SPACE naming the parameter.
  absl::Status Check(const Point& point) const;

  // `point` with the values of inactive parameters removed.
  Point Canonical(Point point) const;

  // The learning rate of every module at `point`, in model order.
  std::vector<ModuleRate> Rates(const Point& point) const;

  // How many distinct points there are; infinity when one domain is continuous.
  // Conditions make this an upper bound.
  double CountPoints() const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<ModuleBinding> modules_;
  std::optional<int> prefix_depth_;
};

}  // namespace frostline

#endif  // FROSTLINE_STUDY_SPACE_H_
