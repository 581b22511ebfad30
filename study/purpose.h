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
  kUnderstand,  // every trial for what it tells about the answer
  kBoth,        // the best value first, and what they tell while it rests
};

// "best"; the words of study files.
const char* NameOf(Purpose purpose);

// What it means for the trials, for people: half a sentence.
const char* MeaningOf(Purpose purpose);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_PURPOSE_H_
