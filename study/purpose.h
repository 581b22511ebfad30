// SPDX-License-Identifier: Apache-2.0
//
// File: purpose.h
//
// What the trials of a study are for.
#ifndef FROSTLINE_STUDY_PURPOSE_H_
#define FROSTLINE_STUDY_PURPOSE_H_

namespace frostline {

enum class Purpose {
  kBest,        // every trial for the best value
  kUnderstand,  // for what it tells about the answer
  kBoth,        // the best value first; what they tell while it rests
};

// "best", as in study files.
const char* NameOf(Purpose purpose);

// What trials are for: half a sentence for people.
const char* MeaningOf(Purpose purpose);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_PURPOSE_H_
