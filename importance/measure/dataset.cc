// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/dataset.h"

#include <algorithm>
#include <utility>

namespace frostline::importance {
namespace {

BinnedAxis MakeBins(const std::vector<double>& codes, bool is_ordered) {
  BinnedAxis axis;
  axis.is_ordered = is_ordered;
  std::vector<double> distinct = codes;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::size_t count =
      is_ordered ? std::min(distinct.size(), kMaxBins) : distinct.size();
  for (std::size_t bin = 0; bin < count; ++bin) {
    axis.lowest.push_back(distinct[bin * distinct.size() / count]);
    axis.highest.push_back(distinct[(bin + 1) * distinct.size() / count - 1]);
  }
  for (const double code : codes) {
    const auto found =
        std::lower_bound(axis.highest.begin(), axis.highest.end(), code);
    axis.bin_of_row.push_back(
        static_cast<std::uint16_t>(found - axis.highest.begin()));
  }
  return axis;
}

}  // namespace

Dataset MakeDataset(std::vector<MeasuredAxis> axes,
                    const std::vector<const Point*>& points,
                    const std::vector<double>& losses) {
  Dataset data;
  data.axes = std::move(axes);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    std::vector<double> codes;
    codes.reserve(points.size());
    for (const Point* const point : points) {
      codes.push_back(data.axes[i].CodeOf((*point)[i]));
    }
    data.bins.push_back(MakeBins(codes, data.axes[i].is_ordered()));
    data.codes.push_back(std::move(codes));
  }
  const auto [lowest, highest] =
      std::minmax_element(losses.begin(), losses.end());
  // Halves, because the range of two finite numbers need not be finite.
  const double middle = *lowest / 2.0 + *highest / 2.0;
  const double radius = *highest / 2.0 - *lowest / 2.0;
  for (const double loss : losses) {
    data.targets.push_back((loss / 2.0 - middle / 2.0) / radius * 2.0);
  }
  return data;
}

}  // namespace frostline::importance
