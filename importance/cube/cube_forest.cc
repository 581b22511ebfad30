// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_forest.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "importance/cube/cube_grower.h"
#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

// Of a parameter that is a number; nothing for choices and levels.
std::optional<Column> NumberColumn(const Domain& domain) {
  if (const auto* rate = std::get_if<LogUniform>(&domain)) {
    return Column{rate->freeze ? 0.0 : rate->lo, rate->hi};
  }
  if (const auto* number = std::get_if<FloatRange>(&domain)) {
    return Column{number->lo, number->hi};
  }
  if (const auto* integer = std::get_if<IntRange>(&domain)) {
    return Column{static_cast<double>(integer->lo),
                  static_cast<double>(integer->hi)};
  }
  return std::nullopt;
}

void FillNumbers(const std::vector<const Point*>& points, std::size_t parameter,
                 CubeData::Axis& axis) {
  for (const Point* const point : points) {
    axis.numbers.push_back(static_cast<float>(
        std::clamp((*point)[parameter], -kLargest, kLargest)));
  }
  const std::vector<float> by_row = axis.numbers;
  std::sort(axis.numbers.begin(), axis.numbers.end());
  axis.numbers.erase(std::unique(axis.numbers.begin(), axis.numbers.end()),
                     axis.numbers.end());
  for (const float number : by_row) {
    const auto found =
        std::lower_bound(axis.numbers.begin(), axis.numbers.end(), number);
    axis.code_of_row.push_back(
        static_cast<std::uint32_t>(found - axis.numbers.begin()));
  }
}

void AddAxis(const Domain& domain, const std::vector<const Point*>& points,
             std::size_t parameter, CubeData& data) {
  CubeData::Axis axis;
  axis.first_column = data.columns.size();
  const std::optional<Column> column = NumberColumn(domain);
  axis.is_number = column.has_value();
  if (column.has_value()) {
    data.columns.push_back(*column);
    FillNumbers(points, parameter, axis);
  } else {
    axis.choices = static_cast<std::size_t>(CountValues(domain));
    data.columns.resize(data.columns.size() + axis.choices);
    for (const Point* const point : points) {
      axis.code_of_row.push_back(
          static_cast<std::uint32_t>((*point)[parameter]));
    }
  }
  for (std::size_t c = axis.first_column; c < data.columns.size(); ++c) {
    data.groups[parameter].push_back(c);
  }
  data.axes.push_back(std::move(axis));
}

double Predict(const CubeData& data, const ColumnTree& tree,
               const std::vector<std::size_t>& axis_of_column,
               std::size_t row) {
  std::size_t at = 0;
  while (tree[at].column >= 0) {
    const auto column = static_cast<std::size_t>(tree[at].column);
    const CubeData::Axis& axis = data.axes[axis_of_column[column]];
    const std::uint32_t code = axis.code_of_row[row];
    const bool left =
        axis.is_number
            ? static_cast<double>(axis.numbers[code]) <= tree[at].threshold
            : code != column - axis.first_column;
    at = left ? tree[at].left : tree[at].right;
  }
  return tree[at].value;
}

}  // namespace

CubeData MakeCubeData(const Space& space, const Selection& selection) {
  CubeData data;
  data.groups.resize(space.parameters().size());
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const Domain& domain = space.parameters()[i].domain;
    const bool is_partial =
        std::any_of(selection.points.begin(), selection.points.end(),
                    [i](const Point* p) { return IsAbsent((*p)[i]); });
    if (is_partial) {
      data.partial.push_back(static_cast<int>(i));
    } else if (CountValues(domain) > 1.0) {
      AddAxis(domain, selection.points, i, data);
    }
  }
  const auto [lowest, highest] =
      std::minmax_element(selection.losses.begin(), selection.losses.end());
  // Halves, because the range of two finite numbers need not be finite.
  const double middle = *lowest / 2.0 + *highest / 2.0;
  const double radius = *highest / 2.0 - *lowest / 2.0;
  for (const double loss : selection.losses) {
    data.targets.push_back((loss / 2.0 - middle / 2.0) / radius * 2.0);
  }
  return data;
}

CubeWeights DrawCubeRows(const CubeWeights& among, Rng& rng) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < among.size(); ++row) {
    rows.insert(rows.end(), among[row], row);
  }
  CubeWeights drawn(among.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++drawn[rows[static_cast<std::size_t>(rng.Below(rows.size()))]];
  }
  return drawn;
}

CubeForest GrowCubeForest(const CubeData& data,
                          const std::vector<double>& targets,
                          const CubeWeights& among, int trees,
                          std::uint64_t seed, std::uint64_t stream, int threads,
                          const std::stop_token& stop) {
  CubeForest forest;
  forest.trees.resize(static_cast<std::size_t>(trees));
  forest.drawn.resize(forest.trees.size());
  ParallelFor(threads, forest.trees.size(), [&](std::size_t t) {
    Rng rng(seed, stream + t);
    forest.drawn[t] = DrawCubeRows(among, rng);
    forest.trees[t] =
        CubeGrower(data, targets, forest.drawn[t], rng, stop).Grow();
  });
  return forest;
}

double OutOfBagR2(const CubeData& data, const CubeForest& forest) {
  std::vector<std::size_t> axis_of_column(data.columns.size(), 0);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const CubeData::Axis& axis = data.axes[i];
    const std::size_t width = axis.is_number ? 1 : axis.choices;
    for (std::size_t c = 0; c < width; ++c) {
      axis_of_column[axis.first_column + c] = i;
    }
  }
  double rows = 0.0, sum = 0.0, squares = 0.0, errors = 0.0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    double prediction = 0.0, trees = 0.0;
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      if (forest.drawn[t][row] > 0) continue;
      prediction += Predict(data, forest.trees[t], axis_of_column, row);
      trees += 1.0;
    }
    if (trees == 0.0) continue;
    const double error = data.targets[row] - prediction / trees;
    rows += 1.0;
    sum += data.targets[row];
    squares += data.targets[row] * data.targets[row];
    errors += error * error;
  }
  const double spread = rows > 0.0 ? squares - sum * sum / rows : 0.0;
  return spread > 0.0 ? 1.0 - errors / spread
                      : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace frostline::importance
