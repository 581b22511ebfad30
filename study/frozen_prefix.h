// SPDX-License-Identifier: Apache-2.0
//
// File: frozen_prefix.h
//
// A frozen prefix of depth k is the embeddings and the layers below k: what
// they give for a text never changes, so it may be computed once.
#ifndef FROSTLINE_STUDY_FROZEN_PREFIX_H_
#define FROSTLINE_STUDY_FROZEN_PREFIX_H_

#include "study/point.h"
#include "study/space.h"

namespace frostline {

// Returns k; -1 when the embeddings train.
int FrozenPrefixOf(const Space& space, const Point& point);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_FROZEN_PREFIX_H_
