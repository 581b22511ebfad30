// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/boundary_needs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/load_rules.h"

namespace frostline::registry {
namespace {

using trainer::DatasetEntry;
using trainer::SplitEntry;

constexpr double kUsualShareHeldOut = 0.1;
constexpr std::int64_t kUsualLength = 128;  // of a study that says none

absl::StatusOr<std::int64_t> CountRows(const Registry& registry,
                                       const SplitEntry& split,
                                       trainer::ColumnMap columns,
                                       trainer::TaskKind kind) {
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  Expected<trainer::InputFile> file = root.value().OpenFile(split.path);
  if (!file.ok()) return ErrorOf(file.fault());
  trainer::DatasetReader reader(kind);
  reader.WithoutLabels();  // what they are does not matter
  columns.insert(split.columns.begin(), split.columns.end());
  std::int64_t rows = 0;
  const Expected<Done> scanned =
      reader.Scan(std::move(file).value(), split.format, columns,
                  [&rows](const trainer::Dataset& some) {
                    rows += static_cast<std::int64_t>(some.size());
                  });
  if (!scanned.ok()) return ErrorOf(scanned.fault());
  return rows;
}

std::int64_t ShareOf(std::int64_t rows, double share) {
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(rows) * share));
}

// Of a training split of so many rows.
std::int64_t Sampled(std::int64_t rows, const BoundaryUse& use) {
  if (use.train_rows > 0) return std::min(rows, use.train_rows);
  return use.train_share > 0 ? ShareOf(rows, use.train_share) : rows;
}

trainer::TaskKind NeedKindOf(const DatasetEntry& set, const StudyNeeds& study) {
  trainer::DataRequest request;
  if (!study.task.empty()) {
    request.task = trainer::ParseTaskName(study.task);
  }
  return trainer::TaskOf(request, set,
                         trainer::SplitName(study.train_split, "train"))
      .kind;
}

absl::StatusOr<std::int64_t> CountTexts(const Registry& registry,
                                        const BoundaryUse& use) {
  const DatasetEntry& set = registry.data_sets.at(use.study.data);
  const std::string train = trainer::SplitName(use.study.train_split, "train");
  const std::string validation =
      trainer::SplitName(use.study.validation_split, "validation");
  const trainer::TaskKind kind = NeedKindOf(set, use.study);
  const auto count =
      [&](const DatasetEntry& of,
          const std::string& split) -> absl::StatusOr<std::int64_t> {
    const bool own = &of == &set;
    return CountRows(registry, of.splits.at(split),
                     own ? use.study.columns : trainer::ColumnMap(), kind);
  };
  std::int64_t texts = 0;
  ASSIGN_OR_RETURN(const std::int64_t rows, count(set, train));
  if (set.splits.contains(validation)) {
    ASSIGN_OR_RETURN(texts, count(set, validation));
    if (!use.evaluates_only) texts += Sampled(rows, use);
  } else {
    const std::int64_t held_out =
        ShareOf(rows, use.validation_share > 0 ? use.validation_share
                                               : kUsualShareHeldOut);
    texts = held_out;
    if (!use.evaluates_only) texts += Sampled(rows - held_out, use);
  }
  if (set.splits.contains(use.test_split)) {
    ASSIGN_OR_RETURN(const std::int64_t more, count(set, use.test_split));
    texts += more;
  }
  for (const std::string& id : use.study.also_evaluate) {
    const DatasetEntry& other = registry.data_sets.at(id);
    const auto test = other.splits.find("test");
    const bool has_test = test != other.splits.end() && test->second.labelled;
    const char* const split = has_test ? "test" : "validation";
    if (!other.splits.contains(split)) continue;
    ASSIGN_OR_RETURN(const std::int64_t more, count(other, split));
    texts += more;
  }
  return texts;
}

}  // namespace

std::int64_t BoundaryNeeds::BytesAt(std::int64_t frozen_layers) const {
  constexpr std::int64_t kBytesOfANumber = 4;
  const bool one = top_is_one_token && frozen_layers == layers;
  return texts * (one ? 1 : tokens) * hidden * kBytesOfANumber;
}

absl::StatusOr<BoundaryNeeds> BoundaryNeedsOf(const Registry& registry,
                                              const BoundaryUse& use) {
  ASSIGN_OR_RETURN(const ModelFacts model,
                   LookAtModel(registry, use.study.model));
  BoundaryNeeds needs;
  needs.hidden = model.hidden;
  needs.layers = model.layers;
  const trainer::TaskKind kind =
      NeedKindOf(registry.data_sets.at(use.study.data), use.study);
  needs.top_is_one_token =
      !use.reads_all && kind != trainer::TaskKind::kTagging;
  const std::int64_t longest =
      use.max_length > 0 ? use.max_length : kUsualLength;
  needs.tokens = std::min(longest, model.longest_text);
  ASSIGN_OR_RETURN(needs.texts, CountTexts(registry, use));
  if (use.reads_apart) needs.texts *= 2;
  return needs;
}

}  // namespace frostline::registry
