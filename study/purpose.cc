// SPDX-License-Identifier: Apache-2.0
#include "study/purpose.h"

namespace frostline {

const char* NameOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kBest:
      return "best";
    case Purpose::kUnderstand:
      return "understand";
    case Purpose::kBoth:
      return "both";
  }
  return "";
}

const char* MeaningOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kBest:
      return "every trial is for the best value";
    case Purpose::kUnderstand:
      return "every trial is chosen for what it tells";
    case Purpose::kBoth:
      return "a balanced beginning, then the best value; while it rests, part "
             "of the trials for what they tell";
  }
  return "";
}

}  // namespace frostline
