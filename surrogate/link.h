// SPDX-License-Identifier: Apache-2.0
//
// File: link.h
//
// Between a metric that stays in a range and numbers that stay in none, so that
// nothing predicted can leave the range: the logit where both ends are finite,
// the logarithm of the way from the end where one is, nothing where none is. It
// rises strictly: medians and quantiles may be taken on either side of it,
// means may not.
//
//   const Link link(0.0, 1.0, values);
//   link.Back(link.Forward(0.93));      // 0.93
//
// Immutable; any thread may ask.
#ifndef FROSTLINE_SURROGATE_LINK_H_
#define FROSTLINE_SURROGATE_LINK_H_

#include <cstdint>
#include <vector>

namespace frostline::surrogate {

class Link {
 public:
  // No range: values as they are.
  Link() = default;
  // Ends that are not finite are open. `values` say how near to an end still
  // makes a difference: values at the ends must stay finite.
  // REQUIRES: lo < hi, values are finite and lie between them.
  Link(double lo, double hi, const std::vector<double>& values);

  double Forward(double value) const;
  // Of any number, the infinities too; between the ends, both included.
  double Back(double number) const;

 private:
  enum class Form : std::uint8_t { kNone, kLogit, kAbove, kBelow };

  Form form_ = Form::kNone;
  double lo_ = 0.0;
  double hi_ = 0.0;
  // Kept from the ends: of the range, or of a typical way from the one end.
  double margin_ = 0.0;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_LINK_H_
