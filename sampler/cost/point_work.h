// SPDX-License-Identifier: Apache-2.0
//
// File: point_work.h
//
// What a point asks of a trainer, counted in passes of a layer over the texts:
// forward through what is not part of a stored prefix, backward through what
// lies above the lowest module that trains, and weights' gradients where one
// trains. The top layer counts for itself, as heads of one token leave little
// of it.
//
//   6 layers, the first 4 and the embeddings frozen, both others train:
//   forward 1, backward 0, weights 1, and of the top layer 3
#ifndef FROSTLINE_SAMPLER_COST_POINT_WORK_H_
#define FROSTLINE_SAMPLER_COST_POINT_WORK_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "study/point.h"
#include "study/space.h"

namespace frostline::sampler {

// Passes are of one epoch. Where the space names no modules its learning rates
// in order are taken for layers.
struct PointWork {
  double forward = 0.0;  // of layers below the top, as the next three
  double backward = 0.0;
  double weights = 0.0;
  double top = 0.0;         // all passes of the top layer
  double embeddings = 0.0;  // 1: they train
  double prefix = 0.0;      // layers of the frozen prefix
  double epochs = 1.0;      // as searched, else 1; as the next two
  double batch_size = 1.0;
  double max_length = 1.0;

  double passes() const { return forward + backward + weights + top; }
  double steps() const { return epochs / batch_size; }
};

// Finds once what of a space is searched.
class WorkCounter {
 public:
  // It keeps the space by reference.
  explicit WorkCounter(const Space& space);

  PointWork CountOf(const Point& point) const;

  // Boundaries are the same where depth and length are.
  using Boundary = std::pair<int, double>;
  // Returns nothing where no layer is part of a frozen prefix.
  static std::optional<Boundary> BoundaryOf(const PointWork& work) {
    if (work.prefix < 1.0) return std::nullopt;
    return Boundary{static_cast<int>(work.prefix), work.max_length};
  }

 private:
  // The part of each layer that trains, from below.
  std::vector<double> TrainedShares(const Point& point) const;
  double Searched(const std::optional<int>& parameter,
                  const Point& point) const;

  const Space& space_;
  std::optional<int> epochs_, batch_size_, max_length_;
  std::optional<std::size_t> embeddings_;
  std::vector<int> layer_of_;  // by module; -1: none
  std::vector<double> parts_;  // by layer: modules that it is cut into
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_COST_POINT_WORK_H_
