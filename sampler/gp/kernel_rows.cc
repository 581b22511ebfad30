// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/kernel_rows.h"

namespace frostline {

Cells KernelRows::At(std::size_t row) const {
  Cells at;
  for (const auto& column : cells) at.push_back(column[row]);
  return at;
}

void KernelRows::Append(const Cells& at, std::uint8_t of_study,
                        double with_doubt) {
  cells.resize(at.size());
  for (std::size_t d = 0; d < at.size(); ++d) cells[d].push_back(at[d]);
  study.push_back(of_study);
  doubt.push_back(with_doubt);
}

}  // namespace frostline
