// SPDX-License-Identifier: Apache-2.0
#include <iostream>

// Where the folder was configured without LibTorch.
int main() {
  std::cout << "bench: skipped, as this build has no LibTorch: run "
               "`./dev build` first\n";
  return 0;
}
