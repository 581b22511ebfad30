// SPDX-License-Identifier: Apache-2.0
//
// File: nearest.h
//
// Finds the word that somebody meant to type.
#ifndef FROSTLINE_BASE_NEAREST_H_
#define FROSTLINE_BASE_NEAREST_H_

#include <string>
#include <vector>

namespace frostline {

// Returns the number of typing mistakes (a letter wrong, missing, too many, or
// two swapped) by optimal string alignment.
int TypingDistance(const std::string& a, const std::string& b);

// Returns the nearest word, the first of equals; empty when none is near.
std::string Nearest(const std::string& typed,
                    const std::vector<std::string>& words);

// Returns "did you mean 'seed'?", or "use one of a, b, c" when nothing is near.
std::string Suggest(const std::string& typed,
                    const std::vector<std::string>& words);

}  // namespace frostline

#endif  // FROSTLINE_BASE_NEAREST_H_
