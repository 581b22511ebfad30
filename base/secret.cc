// SPDX-License-Identifier: Apache-2.0
#include "base/secret.h"

#include <sys/prctl.h>

#include <cstdlib>
#include <string_view>

namespace frostline {

void ForbidCoreDumps() {
  const char* const wanted = std::getenv("FROSTLINE_CORE_DUMPS");
  if (wanted != nullptr && std::string_view(wanted) == "1") return;
  // A limit of zero would not do: it holds for files alone, not for a program
  // that takes dumps from a pipe, and trainers would inherit it. This cannot
  // fail for a value that the kernel knows.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace frostline
