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

#include <cstddef>
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

// It is met when the parent has one of `values` (as in point.h) or, where these
// are empty, lies in [min, max].
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

// A rate comes from a parameter (frozen where that is absent) or is fixed.
struct ModuleBinding {
  std::string module;  // "embeddings", "layer.3", "layer.3.ffn"
  std::optional<int> parameter;
  double fixed_rate = 0.0;
  // A layer is frozen at a prefix depth above this.
  std::optional<int> frozen_above_depth;
  // Instead of both: so many times the space's decay below its base rate.
  std::optional<int> decay_steps = {};
};

// Rates of the modules with decay_steps. A number comes from a parameter, or is
// fixed; where a parameter of the factor is inactive it counts for nothing.
struct LayerwiseDecay {
  std::optional<int> base_parameter;
  double base_rate = 0.0;
  std::optional<int> decay_parameter;
  double decay = 1.0;
};

struct ModuleRate {
  std::string module;
  double rate = 0.0;  // 0 = frozen
};

// Any thread may use it.
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

  // Answers VALUE_OUT_OF_SPACE unless active parameters have values in their
  // domains, and no others have any.
  absl::Status Check(const Point& point) const;

  // Makes inactive parameters absent.
  Point Canonical(Point point) const;

  // They are in model order.
  std::vector<ModuleRate> Rates(const Point& point) const;

  // The same of modules()[module] alone.
  double RateAt(std::size_t module, const Point& point) const;
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

}  // namespace frostline

#endif  // FROSTLINE_STUDY_SPACE_H_
