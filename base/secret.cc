// SPDX-License-Identifier: Apache-2.0
#include "base/secret.h"

#include <sys/prctl.h>

#include <cstdlib>
#include <string_view>

namespace frostline {

void ForbidCoreDumps() {
  const char* const wanted = std::getenv("FROSTLINE_CORE_DUMPS");
  if (wanted != nullptr && std::string_view(wanted) == "1") return;
  // A limit of zero would not be enough: it holds only for files, not for a
  // program that takes dumps from a pipe, and trainers would inherit it. This
  // call cannot fail for a value that the kernel knows.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace frostline
