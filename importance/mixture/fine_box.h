// SPDX-License-Identifier: Apache-2.0
//
// File: fine_box.h
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FINE_BOX_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FINE_BOX_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline::importance {

// It holds what a walk down a tree leaves of the space, in fine codes. It keeps
// a reference, and is the whole space at first.
class FineBox {
 public:
  explicit FineBox(const std::vector<FineAxis>& axes)
      : axes_(axes), masses_(axes.size(), 1.0) {
    inside_.reserve(axes.size());
    for (const FineAxis& axis : axes) inside_.emplace_back(axis.size(), true);
  }

  const std::vector<bool>& inside(std::size_t axis) const {
    return inside_[axis];
  }
  double mass(std::size_t axis) const { return masses_[axis]; }

  // Calls visit(child, share) for the children reached, left first, cut down to
  // each; `share` is the child's part.
  template <typename Visitor>
  void EnterChildren(const TreeNode& node, const Visitor& visit) {
    const auto axis = static_cast<std::size_t>(node.axis);
    const std::vector<bool> before = inside_[axis];
    const double whole = masses_[axis];
    for (const bool left : {true, false}) {
      double part = 0.0;
      for (std::size_t k = 0; k < before.size(); ++k) {
        inside_[axis][k] = before[k] && axes_[axis].GoesLeft(node, k) == left;
        if (inside_[axis][k]) part += axes_[axis].masses[k];
      }
      if (!(part > 0.0)) continue;
      masses_[axis] = part;
      visit(static_cast<std::size_t>(left ? node.left : node.right),
            part / whole);
    }
    inside_[axis] = before;
    masses_[axis] = whole;
  }

 private:
  const std::vector<FineAxis>& axes_;
  std::vector<std::vector<bool>> inside_;  // by axis and code
  std::vector<double> masses_;             // by axis
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FINE_BOX_H_
