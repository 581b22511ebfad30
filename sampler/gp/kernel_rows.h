// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_rows.h
//
// Trials as the kernel sees them: their cells, the study they are of and how
// far their losses are to be doubted.
#ifndef FROSTLINE_SAMPLER_GP_KERNEL_ROWS_H_
#define FROSTLINE_SAMPLER_GP_KERNEL_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampler/gp/level_axis.h"

namespace frostline {

// By columns.
struct KernelRows {
  std::vector<std::vector<std::uint8_t>> cells;  // [axis][row]
  std::vector<std::uint8_t> study;               // 0: this one
  std::vector<double> doubt;  // variance on top of the noise of all

  std::size_t size() const { return study.size(); }
  Cells At(std::size_t row) const;
  void Append(const Cells& at, std::uint8_t of_study, double with_doubt);
  bool operator==(const KernelRows& other) const = default;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_KERNEL_ROWS_H_
