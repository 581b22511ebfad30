// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/load.h"
#include "worker/trainer/prefix/prefix_store.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

using trainer::DatasetEntry;
using trainer::SplitEntry;
using trainer::TaskKind;
using Names = std::vector<std::string>;

bool Has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Entries>
absl::Status NoEntry(const Registry& registry, const Entries& entries,
                     const char* what, const std::string& id,
                     const std::string& field) {
  Names ids;
  for (const auto& [known, entry] : entries) ids.push_back(known);
  const std::string near = Nearest(id, ids);
  const std::string add = absl::StrCat(
      "`frostline registry add ",
      std::string(what) == "model" ? "model DIR`" : "dataset FILE`");
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(registry.folder, " has no ", what, " '", id, "'"),
      !near.empty() ? absl::StrCat("did you mean '", near, "'?")
      : ids.empty() ? absl::StrCat("add it with ", add)
                    : absl::StrCat("it has ", absl::StrJoin(ids, ", "),
                                   "; add another with ", add),
      field);
}

absl::Status OtherSum(const char* what, const std::string& id,
                      const std::string& has, const std::string& wanted,
                      const std::string& field) {
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat("the study wants ", what, " '", id, "' of the SHA-256 ",
                   wanted, "; the registry's has ", has),
      "correct the sum, or register the same files", field);
}

absl::Status CheckModelFit(const Registry& registry, const StudyNeeds& needs) {
  const auto found = registry.models.find(needs.model);
  if (found == registry.models.end()) {
    return NoEntry(registry, registry.models, "model", needs.model, "model.id");
  }
  const std::string& sum = found->second.sha256;
  if (!needs.model_sha256.empty() && needs.model_sha256 != sum) {
    return OtherSum("model", needs.model, sum, needs.model_sha256,
                    "model.sha256");
  }
  ASSIGN_OR_RETURN(const ModelFacts facts, LookAtModel(registry, needs.model));
  const auto wrong = [&](const char* field, std::int64_t said,
                         std::int64_t is) {
    return MakeError(ErrorId::kTrainerMismatch,
                     absl::StrCat("the study says that ", needs.model, " has ",
                                  said, " ", field, "; it has ", is),
                     absl::StrCat("write ", field, ": ", is),
                     absl::StrCat("model.", field));
  };
  if (needs.layers != 0 && needs.layers != facts.layers) {
    return wrong("layers", needs.layers, facts.layers);
  }
  if (needs.heads != 0 && needs.heads != facts.heads) {
    return wrong("heads", needs.heads, facts.heads);
  }
  if (needs.max_length <= facts.longest_text) return absl::OkStatus();
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat("training.max_length is ", needs.max_length, ", and ",
                   needs.model, " reads at most ", facts.longest_text,
                   " tokens"),
      absl::StrCat("write max_length: ", facts.longest_text, ", or less"),
      "training.max_length");
}

absl::Status CheckColumns(const Registry& registry, const SplitEntry& split,
                          const StudyNeeds& needs, TaskKind kind) {
  trainer::ColumnMap columns = needs.columns;
  const std::string field = needs.data_field + ".columns";
  columns.insert(split.columns.begin(), split.columns.end());
  const Expected<Done> roles = trainer::CheckRoles(kind, columns);
  if (!roles.ok()) return ErrorOf(roles.fault(), field);
  columns.merge(trainer::DefaultColumns(kind, split.format.kind));
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  Expected<trainer::InputFile> file = root.value().OpenFile(split.path);
  if (!file.ok()) return ErrorOf(file.fault(), needs.data_field + ".id");
  Names names;
  for (const auto& [role, column] : columns) names.push_back(column);
  const auto rows =
      trainer::OpenRows(std::move(file).value(), split.format, names);
  if (!rows.ok()) return ErrorOf(rows.fault(), field);
  // A row may lack its label, so a column is missing if none of the first has
  // it.
  constexpr int kRowsLookedAt = 100;
  std::set<std::string> missing(names.begin(), names.end());
  trainer::Row row;
  for (int count = 0; count < kRowsLookedAt && !missing.empty(); ++count) {
    const Expected<bool> more = rows.value()->Next(row);
    if (!more.ok()) return ErrorOf(more.fault(), needs.data_field + ".id");
    if (!more.value() && count == 0) return absl::OkStatus();
    if (!more.value()) break;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].present) missing.erase(names[i]);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return MakeError(ErrorId::kTrainerMismatch,
                   absl::StrCat(split.path, ": the first rows have no '",
                                *missing.begin(), "'"),
                   absl::StrCat("name another column in ", field), field);
}

absl::Status CheckDataFit(const Registry& registry, const StudyNeeds& needs,
                          trainer::TaskName* task) {
  const auto found = registry.data_sets.find(needs.data);
  if (found == registry.data_sets.end()) {
    return NoEntry(registry, registry.data_sets, "data set", needs.data,
                   needs.data_field + ".id");
  }
  trainer::DataRequest request;
  request.train_split = needs.train_split;
  request.validation_split = needs.validation_split;
  const Expected<Done> splits = trainer::CheckSplits(found->second, request);
  if (!splits.ok()) return ErrorOf(splits.fault(), needs.data_field);
  const std::string train = trainer::SplitName(needs.train_split, "train");
  const std::string& sum = found->second.splits.at(train).sha256;
  if (!needs.data_sha256.empty() && needs.data_sha256 != sum) {
    return OtherSum("data set", needs.data, sum, needs.data_sha256,
                    needs.data_field + ".sha256");
  }
  if (!needs.task.empty()) request.task = trainer::ParseTaskName(needs.task);
  *task = trainer::TaskOf(request, found->second, train);
  return CheckColumns(registry, found->second.splits.at(train), needs,
                      task->kind);
}

absl::Status CheckMetrics(const StudyNeeds& needs, TaskKind kind) {
  Names names = MetricsOf(kind);
  names.emplace_back("train_loss");
  const Names validated = names;
  if (!needs.stopping_metric.empty() && !Has(names, needs.stopping_metric)) {
    return MakeError(
        ErrorId::kTrainerMisuse,
        absl::StrCat("this task has no metric '", needs.stopping_metric, "'"),
        Suggest(needs.stopping_metric, names),
        "training.early_stopping.metric");
  }
  names.insert(names.end(), {"train_seconds", "trained_parameters",
                             "peak_memory_mib", "steps", "kept_step"});
  for (std::size_t i = 0; i < needs.metrics.size(); ++i) {
    const std::string& metric = needs.metrics[i];
    if (metric.empty()) continue;
    // "sst2.accuracy" is the accuracy on another set that is evaluated.
    const std::size_t dot = metric.rfind('.');
    const bool of_other =
        dot != std::string::npos && Has(validated, metric.substr(dot + 1));
    if (of_other || Has(names, metric)) continue;
    return MakeError(ErrorId::kTrainerMisuse,
                     absl::StrCat("this task has no metric '", metric, "'"),
                     Suggest(metric, names),
                     absl::StrCat("objectives[", i, "].metric"));
  }
  return absl::OkStatus();
}

}  // namespace

// These are the metrics of worker/trainer/trial/scores.h; a test compares them.
Names MetricsOf(TaskKind kind) {
  if (kind == TaskKind::kRegression) {
    return {"loss", "mse", "pearson", "rmse", "spearman"};
  }
  if (kind == TaskKind::kAnswers) {
    return {"answers_cut", "exact_match", "loss", "perplexity"};
  }
  if (kind == TaskKind::kChoices) {
    return {"accuracy", "accuracy_per_byte", "answers_cut", "loss",
            "perplexity"};
  }
  Names names = {"accuracy", "f1", "f1_macro", "f1_micro", "loss", "mcc"};
  if (kind == TaskKind::kTagging) {
    names.insert(names.end(), {"precision", "recall", "words_cut"});
  }
  return names;
}

bool HasAll(const Registry& registry, const StudyNeeds& needs) {
  return registry.models.contains(needs.model) &&
         registry.data_sets.contains(needs.data) &&
         std::all_of(needs.also_evaluate.begin(), needs.also_evaluate.end(),
                     [&](const std::string& id) {
                       return registry.data_sets.contains(id);
                     });
}

absl::Status CheckFit(const Registry& registry, const StudyNeeds& needs,
                      bool trains) {
  if (!needs.model.empty()) {
    RETURN_IF_ERROR(CheckModelFit(registry, needs));
  }
  if (needs.data.empty()) return absl::OkStatus();
  trainer::TaskName task;
  RETURN_IF_ERROR(CheckDataFit(registry, needs, &task));
  for (const std::string& id : needs.also_evaluate) {
    if (registry.data_sets.contains(id)) continue;
    return NoEntry(registry, registry.data_sets, "data set", id,
                   "training.also_evaluate");
  }
  return trains ? CheckMetrics(needs, task.kind) : absl::OkStatus();
}

std::string NearestMetric(const std::string& metric) {
  Names names = MetricsOf(TaskKind::kTagging);
  for (const TaskKind kind :
       {TaskKind::kRegression, TaskKind::kAnswers, TaskKind::kChoices}) {
    for (const std::string& name : MetricsOf(kind)) {
      if (!Has(names, name)) names.push_back(name);
    }
  }
  names.insert(names.end(),
               {"train_loss", "train_seconds", "trained_parameters",
                "peak_memory_mib", "steps", "kept_step"});
  return Has(names, metric) ? "" : Nearest(metric, names);
}

namespace {

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

// Returns how many rows of a training split of this size are used.
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
  const bool one = top_is_one_token && frozen_layers == layers;
  return texts * (one ? 1 : tokens) * hidden * number_bytes;
}

absl::StatusOr<BoundaryNeeds> BoundaryNeedsOf(const Registry& registry,
                                              const BoundaryUse& use) {
  ASSIGN_OR_RETURN(const ModelFacts model,
                   LookAtModel(registry, use.study.model));
  BoundaryNeeds needs;
  needs.hidden = model.hidden;
  needs.layers = model.layers;
  needs.number_bytes = use.number_bytes;
  const trainer::TaskKind kind =
      NeedKindOf(registry.data_sets.at(use.study.data), use.study);
  needs.top_is_one_token = !use.reads_all &&
                           kind != trainer::TaskKind::kTagging &&
                           kind != trainer::TaskKind::kAnswers &&
                           kind != trainer::TaskKind::kChoices;
  const std::int64_t longest =
      use.max_length > 0 ? use.max_length : kUsualLength;
  needs.tokens = std::min(longest, model.longest_text);
  ASSIGN_OR_RETURN(needs.texts, CountTexts(registry, use));
  if (use.reads_apart) needs.texts *= 2;
  return needs;
}

namespace {

using trainer::Dataset;

constexpr std::size_t kRows = 1'000;
constexpr std::size_t kLongest = 8'192;  // tokens that are worth counting

absl::StatusOr<std::int64_t> LengthQuantile(std::vector<std::size_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  const std::size_t rank = (lengths.size() - 1) * 95 / 100;
  return static_cast<std::int64_t>(lengths[rank]);
}

Expected<Done> Encode(const Dataset& some, std::size_t row,
                      trainer::Encoder& encoder, trainer::Encoding& encoding) {
  const trainer::EncodeOptions options{.max_length = kLongest};
  if (some.task() == TaskKind::kTagging) {
    return encoder.EncodeWords(some.words(row), options, encoding);
  }
  if (some.is_pair() || some.task() == TaskKind::kAnswers) {
    return encoder.EncodePair(some[row].text, some[row].second, options,
                              encoding);
  }
  return encoder.Encode(some[row].text, options, encoding);
}

}  // namespace

absl::StatusOr<std::int64_t> LongTextTokens(const Registry& registry,
                                            const std::string& model,
                                            const std::string& data) {
  const trainer::DatasetEntry& set = registry.data_sets.at(data);
  const trainer::SplitEntry& train = set.splits.at("train");
  const Expected<trainer::Tokenizer> tokenizer = trainer::LoadTokenizer(
      registry.folder + "/" + registry.models.at(model).path);
  if (!tokenizer.ok()) return ErrorOf(tokenizer.fault());
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  Expected<trainer::InputFile> file = root.value().OpenFile(train.path);
  if (!file.ok()) return ErrorOf(file.fault());
  trainer::Encoder encoder(tokenizer.value());
  trainer::Encoding encoding;
  std::vector<std::size_t> lengths;
  std::optional<Fault> fault;
  trainer::DatasetReader reader(TaskOfSet(set).kind);
  reader.WithStop(StopSign([&] { return fault || lengths.size() >= kRows; }));
  if (train.skip_unlabelled) reader.SkipUnlabelled();
  reader.WithForm(train.form);
  const auto look = [&](const Dataset& some) {
    for (std::size_t row = 0; row < some.size() && lengths.size() < kRows;
         ++row) {
      const Expected<Done> done = Encode(some, row, encoder, encoding);
      if (!done.ok()) fault = done.fault();
      lengths.push_back(encoding.size());
    }
  };
  const Expected<Done> scanned =
      reader.Scan(std::move(file).value(), train.format, train.columns, look);
  if (fault) return ErrorOf(*fault);
  const bool stopped =
      !scanned.ok() && scanned.fault().kind == FaultKind::kStopped;
  if (!scanned.ok() && !stopped) return ErrorOf(scanned.fault());
  return LengthQuantile(std::move(lengths));
}

using trainer::PrefixStore;
using trainer::StoredGroup;

std::optional<std::vector<KeptPrefix>> ListPrefixes(const std::string& folder) {
  const std::optional<PrefixStore> store = PrefixStore::Find(folder);
  if (!store) return std::nullopt;
  std::vector<KeptPrefix> kept;
  for (const StoredGroup& group : store->List()) {
    const auto bytes = static_cast<double>(group.bytes);
    const double whole = group.worth.By(bytes) * bytes;
    kept.push_back({group.about, group.bytes, group.worth.taken,
                    std::max(0.0, whole - group.worth.seconds)});
  }
  return kept;
}

std::uint64_t ClearPrefixes(const std::string& folder) {
  const std::optional<PrefixStore> store = PrefixStore::Find(folder);
  return store ? store->Clear() : 0;
}

}  // namespace frostline::registry
