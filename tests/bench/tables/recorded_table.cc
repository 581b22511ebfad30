// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/recorded_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "study/space.h"

namespace frostline::bench {

int RecordedCell::Succeeded() const {
  return static_cast<int>(std::ranges::count_if(runs, &RecordedRun::succeeded));
}

double RecordedCell::Mean() const {
  double sum = 0.0;
  for (const RecordedRun& run : runs) sum += run.succeeded ? run.value : 0.0;
  const int count = Succeeded();
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

const RecordedCell* RecordedTable::Find(const Point& point) const {
  const auto [first, last] = places.equal_range(HashPoint(point));
  for (auto at = first; at != last; ++at) {
    if (SamePoint(cells[at->second].point, point)) return &cells[at->second];
  }
  return nullptr;
}

bool RecordedTable::IsComplete() const {
  const auto known = std::ranges::count_if(
      cells, [](const RecordedCell& cell) { return cell.Succeeded() > 0; });
  return static_cast<double>(known) == space.CountPoints();
}

double RecordedTable::Score(double value) const {
  return -AsLoss(objective, value);
}

namespace {

std::vector<std::string> Split(const std::string& line, char between) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, between);) {
    parts.push_back(part);
  }
  if (!line.empty() && line.back() == between) parts.emplace_back();
  return parts;
}

double NumberOf(const std::string& text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) {
    throw std::runtime_error("'" + text + "' is no number");
  }
  return value;
}

class TableReader {
 public:
  void Line(const std::string& line) {
    if (line.starts_with("# ")) {
      Header(Split(line.substr(2), ' '));
    } else if (columns_.empty()) {
      Columns(Split(line, ','));
    } else {
      Row(Split(line, ','));
    }
  }

  RecordedTable Finish() {
    if (table_.cells.empty()) throw std::runtime_error("it has no runs");
    return std::move(table_);
  }

 private:
  void Header(const std::vector<std::string>& words) {
    const std::string& key = words[0];
    if (words.size() < (key == "module" ? 3u : 2u)) {
      throw std::runtime_error("'" + key + "' says nothing");
    }
    if (key == "name") table_.name = words[1];
    if (key == "outcomes") {
      table_.outcomes = static_cast<std::int64_t>(NumberOf(words[1]));
    }
    if (key == "metric") {
      table_.objective = {words[1], words.back() == "minimize"
                                        ? Direction::kMinimize
                                        : Direction::kMaximize};
    }
    if (key == "parameter" || key == "ranks") {
      Levels levels;
      levels.are_ranks = key == "ranks";
      for (std::size_t i = 2; i < words.size(); ++i) {
        levels.rates.push_back(NumberOf(words[i]));
      }
      parameters_.push_back({words[1], std::move(levels), {}});
    }
    if (key == "module") Bind(words);
  }

  // "module layer.0 lower", with a rate "module head 0.001", with an adapter
  // its rank and its rate "module layer.0 lower rate".
  void Bind(const std::vector<std::string>& words) {
    const auto place = [this](const std::string& name) -> std::optional<int> {
      const auto known = std::ranges::find(parameters_, name, &Parameter::name);
      if (known == parameters_.end()) return std::nullopt;
      return static_cast<int>(known - parameters_.begin());
    };
    ModuleBinding binding{words[1], place(words[2]), 0.0, std::nullopt};
    if (!binding.parameter) binding.fixed_rate = NumberOf(words[2]);
    if (binding.parameter && words.size() > 3) {
      binding.adapter = AdapterBinding{*binding.parameter, place(words[3])};
    }
    modules_.push_back(std::move(binding));
  }

  void Columns(std::vector<std::string> columns) {
    table_.space = Space(parameters_, modules_, std::nullopt);
    columns_ = std::move(columns);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (i >= columns_.size() || columns_[i] != parameters_[i].name) {
        throw std::runtime_error("a column for '" + parameters_[i].name +
                                 "' is expected");
      }
    }
    if (columns_.size() < parameters_.size() + 3) {
      throw std::runtime_error(
          "columns for seed, state and a metric are "
          "expected");
    }
  }

  Point PointOf(const std::vector<std::string>& fields) const {
    Point point;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto& rates = std::get<Levels>(parameters_[i].domain).rates;
      const auto level = std::ranges::find(rates, NumberOf(fields[i]));
      if (level == rates.end()) {
        throw std::runtime_error(fields[i] + " is no level of '" +
                                 parameters_[i].name + "'");
      }
      point.push_back(static_cast<double>(level - rates.begin()));
    }
    return point;
  }

  void Row(const std::vector<std::string>& fields) {
    if (fields.size() != columns_.size()) {
      throw std::runtime_error("it has " + std::to_string(fields.size()) +
                               " fields, not " +
                               std::to_string(columns_.size()));
    }
    const std::size_t dimensions = parameters_.size();
    RecordedRun run;
    run.seed = static_cast<std::int64_t>(NumberOf(fields[dimensions]));
    run.succeeded = fields[dimensions + 1] == "succeeded";
    for (std::size_t i = dimensions + 2; i < fields.size(); ++i) {
      if (!fields[i].empty()) run.metrics[columns_[i]] = NumberOf(fields[i]);
    }
    if (run.succeeded) run.value = run.metrics.at(table_.objective.metric);
    const Point point = PointOf(fields);
    if (table_.Find(point) == nullptr) {
      table_.places.emplace(HashPoint(point), table_.cells.size());
      table_.cells.push_back({point, {}});
    }
    const auto at = table_.Find(point) - table_.cells.data();
    table_.cells[static_cast<std::size_t>(at)].runs.push_back(std::move(run));
  }

  RecordedTable table_;
  std::vector<Parameter> parameters_;
  std::vector<ModuleBinding> modules_;
  std::vector<std::string> columns_;
};

}  // namespace

RecordedTable ReadTable(std::istream& lines, const std::string& path) {
  TableReader reader;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      reader.Line(line);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " +
                               error.what());
    }
  }
  return reader.Finish();
}

RecordedTable ReadTable(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  return ReadTable(file, path);
}

}  // namespace frostline::bench
