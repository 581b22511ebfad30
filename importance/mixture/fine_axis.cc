// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/fine_axis.h"

#include <algorithm>
#include <cmath>

namespace frostline::importance {
namespace {

constexpr double kParts = 48.0;  // of a range
constexpr double kMostCounted =
    96.0;  // longer lists of values are put together
constexpr double kAbsentCell = -2.0;
constexpr double kFrozen = -1.0;

void AddPart(FineAxis& fine, double code, double mass) {
  if (!(mass > 0.0)) return;
  fine.codes.push_back(code);
  fine.masses.push_back(mass);
}

void CutFineOrdered(const MeasuredAxis& axis, FineAxis& fine) {
  const double absent = axis.MassUpTo(kAbsentCell);
  const double below = axis.MassUpTo(kFrozen);
  AddPart(fine, kAbsentCell, absent);
  AddPart(fine, kFrozen, below - absent);
  if (!axis.is_finite()) {
    for (double part = 0.0; part < kParts; ++part) {
      AddPart(fine, (part + 0.5) / kParts, (1.0 - below) / kParts);
    }
    return;
  }
  // Each part stands where the last of its values does.
  const double values = axis.CountableCodes().back() + 1.0;
  const double parts = std::min(values, kMostCounted);
  double before = below;
  for (double part = 0.0; part < parts; ++part) {
    const double code = std::ceil((part + 1.0) * values / parts) - 1.0;
    AddPart(fine, code, axis.MassUpTo(code) - before);
    before = axis.MassUpTo(code);
  }
}

}  // namespace

std::uint16_t FineAxis::NearestTo(double code) const {
  std::size_t nearest = 0;
  for (std::size_t at = 1; at < codes.size(); ++at) {
    if (std::abs(codes[at] - code) < std::abs(codes[nearest] - code)) {
      nearest = at;
    }
  }
  return static_cast<std::uint16_t>(nearest);
}

bool FineAxis::GoesLeft(const TreeNode& node, std::size_t at) const {
  return is_ordered ? codes[at] <= node.threshold
                    : node.goes_left[static_cast<std::size_t>(codes[at])];
}

EffectAndFineAxis MakeFineAxis(const MeasuredAxis& axis,
                               const std::vector<double>& codes) {
  EffectAndFineAxis both;
  FineAxis& fine = both.fine;
  fine.is_ordered = axis.is_ordered();
  if (fine.is_ordered) {
    CutFineOrdered(axis, fine);
  } else {
    const std::vector<double>& masses = axis.choice_masses();
    for (std::size_t choice = 0; choice < masses.size(); ++choice) {
      AddPart(fine, static_cast<double>(choice), masses[choice]);
    }
  }
  // Cut once for the trials and the parts: one rule, and no part is favoured.
  std::vector<double> all = codes;
  all.insert(all.end(), fine.codes.begin(), fine.codes.end());
  both.effect = MakeEffectAxis(axis, all);
  auto& cells = both.effect.cell_of_row;
  const auto end = cells.begin() + static_cast<std::ptrdiff_t>(codes.size());
  fine.effect_cell.assign(end, cells.end());
  cells.erase(end, cells.end());
  return both;
}

}  // namespace frostline::importance
