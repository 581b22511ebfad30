// SPDX-License-Identifier: Apache-2.0
//
// File: study_axes.h
//
// The axes of a space as the surrogate wants them: each cell with its share of
// the space.
#ifndef FROSTLINE_SAMPLER_GP_STUDY_AXES_H_
#define FROSTLINE_SAMPLER_GP_STUDY_AXES_H_

#include <cstddef>
#include <vector>

#include "sampler/gp/level_axis.h"
#include "study/space.h"
#include "surrogate/axis.h"

namespace frostline::sampler {

Cells CellsOf(const std::vector<LevelAxis>& axes, const Point& point);

// Shares are counted in draws, conditions included, the same for every study of
// the space.
std::vector<surrogate::Axis> StudyAxes(const Space& space,
                                       const std::vector<LevelAxis>& axes);

// The same as a search believes them: effects along an order are smooth. With
// earlier studies the study is one more axis: cell 0 is this one. What studies
// have in common is then a main effect of a parameter, and what they have not
// is its interaction with the study.
std::vector<surrogate::Axis> SearchAxes(const Space& space,
                                        const std::vector<LevelAxis>& axes,
                                        std::size_t earlier);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_STUDY_AXES_H_
