// SPDX-License-Identifier: Apache-2.0
//
// File: translate.h
#ifndef FROSTLINE_STUDY_TRANSLATE_H_
#define FROSTLINE_STUDY_TRANSLATE_H_

#include <optional>

#include "study/point.h"
#include "study/space.h"

namespace frostline {

// Every module keeps its rate, every other parameter the value of its name, as
// far as `to` names them. It answers nothing when `to` has no such point (a
// rate is none of its levels), or searches what `from` does not know.
std::optional<Point> TranslatePoint(const Space& from, const Point& point,
                                    const Space& to);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_TRANSLATE_H_
