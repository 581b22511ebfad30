// SPDX-License-Identifier: Apache-2.0
//
// File: translate.h
//
// A point of one space, said in another: what a finished trial of an earlier
// study means in a new one.
#ifndef FROSTLINE_STUDY_TRANSLATE_H_
#define FROSTLINE_STUDY_TRANSLATE_H_

#include <optional>

#include "study/point.h"
#include "study/space.h"

namespace frostline {

// The point of `to` at which every module has the rate that it has at `point`,
// and every parameter that is of no module the value of the same name. Modules
// and parameters that `to` does not name are left out. Nothing, when `to` has
// no such point: a rate that is not one of its levels, a module or parameter
// that `from` does not know.
std::optional<Point> TranslatePoint(const Space& from, const Point& point,
                                    const Space& to);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_TRANSLATE_H_
