// SPDX-License-Identifier: Apache-2.0
//
// File: study_axes.h
#ifndef FROSTLINE_SAMPLER_GP_STUDY_AXES_H_
#define FROSTLINE_SAMPLER_GP_STUDY_AXES_H_

#include <cstddef>
#include <vector>

#include "sampler/gp/level_axis.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::sampler {

Cells CellsOf(const std::vector<LevelAxis>& axes, const Point& point);

// Each cell has its share of the space, counted in draws, conditions included.
std::vector<surrogate::Axis> StudyAxes(const Space& space,
                                       const std::vector<LevelAxis>& axes);

// Effects along an order are smooth. With earlier studies the study is one more
// axis, this one its cell 0: what studies have in common is a main effect, what
// they have not is an interaction with the study.
std::vector<surrogate::Axis> SearchAxes(const Space& space,
                                        const std::vector<LevelAxis>& axes,
                                        std::size_t earlier);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_STUDY_AXES_H_
