// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/registry.h"

#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {
namespace {

// Reads a JSON number exactly; a whole number may be written 1e3.
template <typename Whole>
std::optional<Whole> WholeOf(const JsonValue& value) {
  if (!value.is(JsonKind::kNumber)) return std::nullopt;
  Whole whole = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, whole);
  if (error == std::errc() && stop == end) return whole;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double number = value.number;
  if (std::trunc(number) != number || std::abs(number) > kExact ||
      (number < 0.0 && !std::is_signed_v<Whole>)) {
    return std::nullopt;
  }
  return static_cast<Whole>(number);
}

std::string Shortest(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return {text, end};
}

}  // namespace

RequestFields::RequestFields(std::string where,
                             std::vector<const JsonValue*> objects)
    : where_(std::move(where)), objects_(std::move(objects)) {
  for (const JsonValue* object : objects_) {
    if (object == nullptr || object->is(JsonKind::kObject) ||
        object->is(JsonKind::kNull)) {
      continue;
    }
    Take({FaultKind::kMisuse, where_ + " is no object", "write {\"name\": …}"});
  }
}

const JsonValue* RequestFields::Find(std::string_view name) const {
  for (const JsonValue* object : objects_) {
    if (object == nullptr) continue;
    const JsonValue* found = object->Find(name);
    if (found != nullptr && !found->is(JsonKind::kNull)) return found;
  }
  return nullptr;
}

std::string RequestFields::Text(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return "";
  if (!found->is(JsonKind::kString)) Fail(name, "is no text", "write a text");
  return std::string(found->text);
}

bool RequestFields::Flag(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return false;
  if (!found->is(JsonKind::kBool)) {
    Fail(name, "is neither true nor false", "write one of them");
  }
  return found->truth;
}

double RequestFields::Share(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return 0.0;
  const bool share = found->is(JsonKind::kNumber) && found->number >= 0.0 &&
                     found->number <= 1.0;
  if (!share) Fail(name, "is not within 0 and 1", "write e.g. 0.1");
  return found->number;
}

double RequestFields::Number(std::string_view name, double least, double most,
                             double fallback) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return fallback;
  if (found->is(JsonKind::kNumber) && found->number >= least &&
      found->number <= most) {
    return found->number;
  }
  Fail(name, "is no number of " + Shortest(least) + " to " + Shortest(most),
       "write one, or leave it out for " + Shortest(fallback));
  return fallback;
}

std::int64_t RequestFields::Whole(std::string_view name, std::int64_t least,
                                  std::int64_t most, std::int64_t fallback) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return fallback;
  const std::optional<std::int64_t> whole = WholeOf<std::int64_t>(*found);
  if (whole && *whole >= least && *whole <= most) return *whole;
  Fail(name,
       "is no whole number of " + std::to_string(least) + " to " +
           std::to_string(most),
       "write one, or leave it out for " + std::to_string(fallback));
  return fallback;
}

std::uint64_t RequestFields::Bits(std::string_view name) {
  const JsonValue* found = Find(name);
  if (found == nullptr) return 0;
  const std::optional<std::uint64_t> whole = WholeOf<std::uint64_t>(*found);
  if (!whole) Fail(name, "is no whole number of 0 or more", "write one");
  return whole.value_or(0);
}

std::vector<std::string> RequestFields::Texts(std::string_view name) {
  std::vector<std::string> texts;
  const JsonValue* found = Find(name);
  if (found == nullptr) return texts;
  for (const JsonValue* v = found->first; v != nullptr; v = v->next) {
    if (!found->is(JsonKind::kArray) || !v->is(JsonKind::kString)) break;
    texts.emplace_back(v->text);
  }
  if (!found->is(JsonKind::kArray) || texts.size() != found->count) {
    Fail(name, "is no list of texts", "write [\"one\", \"another\"]");
  }
  return texts;
}

void RequestFields::Fail(std::string_view name, const std::string& what,
                         const std::string& fix) {
  if (fault_) return;
  fault_ = Fault{FaultKind::kMisuse,
                 where_ + "." + std::string(name) + " " + what, fix};
}

namespace {

// Where the value of a key stands, else its block.
YamlMark MarkOf(const YamlFields& fields, std::string_view key) {
  const YamlEntry* const entry = fields.node().Find(key);
  return entry == nullptr ? fields.node().mark : entry->value->mark;
}

void CheckSum(YamlFields& fields, const YamlMark& mark,
              const std::string& sum) {
  if (IsSha256(sum) || fields.fault()) return;
  fields.Fail(mark, "sha256 is not 64 lower-case hex digits",
              "copy the sum that `sha256sum FILE` prints");
}

void CheckEntryId(YamlFields& fields, const YamlMark& mark,
                  std::string_view id) {
  if (IsRegistryId(id)) return;
  fields.Fail(mark, Shown(id) + " is no id",
              "use 1 to 64 of a-z 0-9 . _ -, first a letter or digit");
}

// What a block says about its files; a split's own words go before its set's.
void TakeFormat(YamlFields& fields, FileFormat& format, ColumnMap& columns) {
  if (const auto name = fields.Text("format")) {
    if (const auto kind = ParseFormatName(*name)) {
      format.kind = *kind;
    } else {
      fields.Fail(MarkOf(fields, "format"),
                  "format " + Shown(*name) + " is unknown",
                  "use tsv, csv, jsonl or conllu");
    }
  }
  if (const auto delimiter = fields.Text("delimiter")) {
    const bool one = delimiter->size() == 1 && *delimiter != "\"";
    if (!one && *delimiter != "tab") {
      fields.Fail(MarkOf(fields, "delimiter"), "delimiter is not one character",
                  "write \",\", \";\", \"|\" or tab");
    }
    format.delimiter = one ? delimiter->front() : '\t';
  }
  format.header = fields.Bool("header").value_or(format.header);
  if (const auto names = fields.Words("names"); !names.empty()) {
    format.names = names;
  }
  for (const auto& [role, column] : fields.Pairs("columns")) {
    columns[role] = column;
  }
}

void TakeForm(YamlFields& fields, const std::string& id, SplitEntry& shared) {
  shared.form.lowercase = fields.Bool("lowercase").value_or(false);
  shared.form.strip_accents = fields.Bool("strip_accents").value_or(false);
  shared.form.chat = fields.Bool("chat").value_or(false);
  for (const auto& [label, name] : fields.Pairs("label_map")) {
    shared.rules.names.emplace(label, name);
  }
  for (const std::string& label : fields.Words("drop_labels")) {
    shared.rules.dropped.insert(label);
  }
  const Expected<Done> fits = Check(shared.rules, id + ".");
  if (fits.ok()) return;
  fields.Fail(MarkOf(fields, "label_map"), fits.fault().cause,
              fits.fault().fix);
}

Expected<Done> TakeSplit(YamlFields fields, const SplitEntry& shared,
                         SplitEntry& split) {
  split = shared;
  fields.KnowOnly({"path", "sha256", "format", "delimiter", "header", "names",
                   "columns", "labelled", "skip_unlabelled"});
  split.path = fields.Demand("path");
  split.sha256 = fields.Demand("sha256");
  CheckSum(fields, MarkOf(fields, "sha256"), split.sha256);
  TakeFormat(fields, split.format, split.columns);
  split.labelled = fields.Bool("labelled").value_or(true);
  split.skip_unlabelled = fields.Bool("skip_unlabelled").value_or(false);
  if (fields.fault()) return *fields.fault();
  return Done{};
}

Expected<DatasetEntry> TakeDataset(const YamlEntry& named,
                                   const std::string& file) {
  const std::string& id = named.key;
  const YamlNode& node = *named.value;
  YamlFields fields(node, file, Shown(id));
  CheckEntryId(fields, named.key_mark, id);
  fields.KnowOnly({"task", "labels", "format", "delimiter", "header", "names",
                   "columns", "lowercase", "strip_accents", "chat", "label_map",
                   "drop_labels", "splits"});
  DatasetEntry entry;
  entry.id = id;
  if (const auto task = fields.Text("task")) {
    entry.task = ParseTaskName(*task);
    if (!entry.task) {
      fields.Fail(
          MarkOf(fields, "task"), "task " + Shown(*task) + " is unknown",
          "use classification, regression, tagging, pair, answers or choices");
    }
  }
  entry.labels = fields.Words("labels");
  SplitEntry shared;
  TakeFormat(fields, shared.format, shared.columns);
  TakeForm(fields, id, shared);
  const YamlNode* splits = fields.Map("splits");
  if (splits == nullptr) {
    fields.Fail(node.mark, "lacks splits", "add a block splits: with train:");
  }
  if (fields.fault()) return *fields.fault();
  for (const auto& [name, mark, block] : splits->entries) {
    std::string where = id;
    where.append(".").append(name);
    YamlFields split_fields(*block, file, where);
    CheckEntryId(split_fields, mark, name);
    RETURN_IF_FAULT(TakeSplit(split_fields, shared, entry.splits[name]));
  }
  return entry;
}

constexpr char kSingleWeights[] = "model.safetensors";
constexpr char kShardedWeights[] = "model.safetensors.index.json";

Expected<ModelEntry> TakeModel(const YamlEntry& named,
                               const std::string& file) {
  const std::string& id = named.key;
  const YamlNode& node = *named.value;
  YamlFields fields(node, file, Shown(id));
  CheckEntryId(fields, named.key_mark, id);
  // First: a key that is misspelt is also one that is lacking.
  fields.KnowOnly({"path", "sha256", "weights", "shards"});
  ModelEntry entry;
  entry.id = id;
  entry.path = fields.Demand("path");
  entry.sha256 = fields.Demand("sha256");
  CheckSum(fields, MarkOf(fields, "sha256"), entry.sha256);
  entry.weights = fields.Text("weights").value_or(kSingleWeights);
  entry.shards = fields.Pairs("shards");
  for (const auto& [shard, sum] : entry.shards) {
    CheckSum(fields, MarkOf(fields, "shards"), sum);
  }
  if (entry.weights != kSingleWeights && entry.weights != kShardedWeights) {
    fields.Fail(MarkOf(fields, "weights"),
                "has weights " + Shown(entry.weights),
                std::string("only ") + kSingleWeights + " and " +
                    kShardedWeights + " are loaded");
  }
  if (entry.shards.empty() != (entry.weights == kSingleWeights)) {
    fields.Fail(node.mark, "has shards without an index, or the reverse",
                std::string("give weights: ") + kShardedWeights +
                    " and under shards the sum of each file");
  }
  if (fields.fault()) return *fields.fault();
  return entry;
}

template <typename Entry, typename Take>
Expected<std::map<std::string, Entry, std::less<>>> TakeAll(
    std::string_view yaml, const std::string& name, Take take) {
  ASSIGN_OR_FAULT(YamlNode root, ParseYamlSubset(yaml, name));
  YamlFields fields(root, name, "the file");
  if (fields.fault()) return *fields.fault();
  std::map<std::string, Entry, std::less<>> entries;
  for (const YamlEntry& named : root.entries) {
    ASSIGN_OR_FAULT(Entry entry, take(named, name));
    entries.emplace(named.key, std::move(entry));
  }
  return entries;
}

}  // namespace

bool IsRegistryId(std::string_view id) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.size() <= kMaxIdBytes &&
         kFirst.find(id.front()) != std::string_view::npos &&
         id.find_first_not_of(kRest) == std::string_view::npos;
}

Expected<DatasetEntries> ParseDatasets(std::string_view yaml,
                                       const std::string& name) {
  return TakeAll<DatasetEntry>(yaml, name, TakeDataset);
}

Expected<ModelEntries> ParseModels(std::string_view yaml,
                                   const std::string& name) {
  return TakeAll<ModelEntry>(yaml, name, TakeModel);
}

namespace {

// A map of texts; `example` is one.
ColumnMap Map(RequestFields& fields, std::string_view name,
              const std::string& example) {
  ColumnMap map;
  const JsonValue* found = fields.Find(name);
  if (found == nullptr) return map;
  const JsonValue* v = found->first;
  for (; v != nullptr || !found->is(JsonKind::kObject); v = v->next) {
    if (!found->is(JsonKind::kObject) || !v->is(JsonKind::kString)) {
      fields.Fail(name, "is no map of texts", "write " + example);
      return map;
    }
    map[std::string(v->key)] = std::string(v->text);
  }
  return map;
}

LabelRules Rules(RequestFields& fields) {
  LabelRules rules;
  for (const auto& [label, name] :
       Map(fields, "label_map", "{\"0\": \"neg\", \"1\": \"pos\"}")) {
    rules.names.emplace(label, name);
  }
  for (const std::string& label : fields.Texts("drop_labels")) {
    rules.dropped.insert(label);
  }
  const Expected<Done> fits = Check(rules, "data.");
  if (!fits.ok()) fields.Take(fits.fault());
  return rules;
}

std::optional<TaskName> TaskOf(RequestFields& fields) {
  const std::string name = fields.Text("task");
  if (name.empty()) return std::nullopt;
  const std::optional<TaskName> task = ParseTaskName(name);
  if (!task) {
    fields.Fail(
        "task", "is unknown: " + Shown(name),
        "use classification, regression, tagging, pair, answers or choices");
  }
  return task;
}

}  // namespace
Expected<DataRequest> ReadDataRequest(const JsonValue& data) {
  RequestFields fields("data", {&data});
  DataRequest request;
  request.id = fields.Text("id");
  if (!IsRegistryId(request.id)) {
    fields.Fail("id", Shown(request.id) + " is no id",
                "name a data set of the workers' registries");
  }
  request.columns =
      Map(fields, "columns", "{\"text\": \"sentence\", \"label\": \"label\"}");
  request.train_split = fields.Text("train_split");
  request.validation_split = fields.Text("validation_split");
  request.test_split = fields.Text("test_split");
  request.train_rows = fields.Bits("train_rows");
  request.train_share = fields.Share("train_share");
  request.validation_share = fields.Share("validation_share");
  request.split_seed = fields.Bits("split_seed");
  request.task = TaskOf(fields);
  request.sha256 = fields.Text("sha256");
  request.form.lowercase = fields.Flag("lowercase");
  request.form.strip_accents = fields.Flag("strip_accents");
  request.rules = Rules(fields);
  if (request.train_rows > 0 && request.train_share > 0.0) {
    fields.Fail("train_rows", "and train_share are both given",
                "give one of them");
  }
  const bool numbers = request.task && !HasClasses(request.task->kind);
  if (numbers && request.rules.any()) {
    fields.Fail("label_map",
                "and drop_labels are of classes, and the task is "
                "regression",
                "leave them out");
  }
  if (fields.fault()) return *fields.fault();
  return request;
}

}  // namespace frostline::trainer
