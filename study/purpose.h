// SPDX-License-Identifier: Apache-2.0
//
// File: purpose.h
#ifndef FROSTLINE_STUDY_PURPOSE_H_
#define FROSTLINE_STUDY_PURPOSE_H_

namespace frostline {

enum class Purpose {
  kBest,        // every trial for the best value
  kUnderstand,  // for what it tells about the answer
  kBoth,        // kBest, and kUnderstand while the search rests
};

// Returns "best", as in study files.
const char* NameOf(Purpose purpose);

// Returns half a sentence for people.
const char* MeaningOf(Purpose purpose);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_PURPOSE_H_
