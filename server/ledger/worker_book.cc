// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/worker_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "proto/wire_values.h"

namespace frostline::server {
namespace {

constexpr char kVersion[] = "v1:";
constexpr std::size_t kVersionSize = sizeof(kVersion) - 1;
constexpr std::size_t kSaltSize = 32;  // digits, of 128 bits
constexpr std::size_t kHalf = 32;      // of the digits of a sum
constexpr std::size_t kShownSize = kSaltSize + kHalf;

bool IsVersioned(const SecretString& text) {
  return absl::StartsWith(text.Reveal(), kVersion);
}

}  // namespace

SecretString AsStored(const SecretString& shown) {
  const std::string& text = shown.Reveal();
  if (text.size() != kShownSize && !IsVersioned(shown)) return shown;
  Sha256Sum sum;
  sum.Add(text);
  return SecretString(
      absl::StrCat(kVersion, text.substr(0, kSaltSize), ":", sum.Finish()));
}

SecretString LeaseSecrets::Draw(TrialKey trial, std::int64_t attempt) const {
  return Shown(RandomHexId(), trial, attempt);
}

SecretString LeaseSecrets::Again(TrialKey trial, std::int64_t attempt,
                                 const SecretString& stored) const {
  if (!IsVersioned(stored)) return stored;
  return Shown(stored.Reveal().substr(kVersionSize, kSaltSize), trial, attempt);
}

SecretString LeaseSecrets::Shown(const std::string& salt, TrialKey trial,
                                 std::int64_t attempt) const {
  Sha256Sum sum;
  sum.AddField(key_.Reveal());
  sum.AddField(salt);
  sum.AddNumber(static_cast<std::uint64_t>(trial.study));
  sum.AddNumber(static_cast<std::uint64_t>(trial.number));
  sum.AddNumber(static_cast<std::uint64_t>(attempt));
  return SecretString(absl::StrCat(salt, sum.Finish().substr(0, kHalf)));
}

void ProgressBoard::Post(TrialKey trial, const v1::LeaseProgress& said,
                         WallMicros now) {
  if (!said.has_progress()) return;
  Entry entry{said.lease().attempt(), said.progress()};
  // Fields that this version does not know were checked by nobody.
  entry.progress.DiscardUnknownFields();
  entry.progress.set_step(std::max<std::int64_t>(0, said.step()));
  entry.progress.set_total_steps(std::max<std::int64_t>(0, said.total_steps()));
  *entry.progress.mutable_as_of() = proto::TimestampToProto(now);
  const MutexLock lock(&mutex_);
  entries_[trial] = std::move(entry);
}

void ProgressBoard::Remove(TrialKey trial) {
  const MutexLock lock(&mutex_);
  entries_.erase(trial);
}

void ProgressBoard::Clear() {
  const MutexLock lock(&mutex_);
  entries_.clear();
}

std::optional<v1::TrialProgress> ProgressBoard::Of(TrialKey trial,
                                                   std::int64_t attempt) const {
  const MutexLock lock(&mutex_);
  const auto found = entries_.find(trial);
  if (found == entries_.end() || found->second.attempt != attempt) {
    return std::nullopt;
  }
  return found->second.progress;
}

namespace {

constexpr std::size_t kMostModels = 4;
constexpr std::size_t kMostModelBytes = 64;

// Returns a label's value: short, and of letters that every tool can show.
std::string LabelOf(const std::string& model) {
  std::string label = model.substr(0, kMostModelBytes);
  for (char& letter : label) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(letter))) letter = '_';
  }
  return label.empty() ? kOtherModel : label;
}

GpuUse LoadUseOf(const v1::GpuLoad& gpu) {
  GpuUse use;
  if (gpu.has_utilization()) {
    use.gpus = 1;
    use.busy = gpu.utilization();
  }
  use.memory_bytes = static_cast<double>(gpu.memory_total_bytes());
  use.memory_used_bytes = static_cast<double>(gpu.memory_used_bytes());
  use.watts = gpu.power_watts();
  return use;
}

}  // namespace

GpuUse& GpuUse::operator+=(const GpuUse& more) {
  gpus += more.gpus;
  busy += more.busy;
  leased += more.leased;
  memory_bytes += more.memory_bytes;
  memory_used_bytes += more.memory_used_bytes;
  watts += more.watts;
  return *this;
}

LoadPtr LoadOf(const v1::NodeLoad& load, const v1::Worker& worker,
               WallMicros now) {
  std::map<std::string, std::string> models;  // by uuid
  for (const v1::Hardware::Gpu& gpu : worker.hardware().gpus()) {
    models.emplace(gpu.uuid(), LabelOf(gpu.model()));
  }
  KnownLoad known{load, {}};
  *known.load.mutable_as_of() = proto::TimestampToProto(now);
  for (const v1::GpuLoad& gpu : load.gpus()) {
    const auto found = models.find(gpu.uuid());
    std::string model = found == models.end() ? kOtherModel : found->second;
    const bool has_room =
        known.gpus.size() < kMostModels || known.gpus.contains(model);
    known.gpus[has_room ? model : kOtherModel] += LoadUseOf(gpu);
  }
  return std::make_shared<const KnownLoad>(std::move(known));
}

GpuUse Leased(GpuUse use, std::size_t trials, std::int64_t slots) {
  const double share = static_cast<double>(trials) /
                       static_cast<double>(std::max(slots, std::int64_t{1}));
  use.leased = use.gpus * std::min(share, 1.0);
  return use;
}

namespace {

std::map<std::string, std::string> SumsOf(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& items) {
  std::map<std::string, std::string> sums;
  for (const v1::StockItem& item : items) sums[item.id()] = item.sha256();
  return sums;
}

std::map<std::string, v1::ModelBounds> BoundsIn(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& models) {
  std::map<std::string, v1::ModelBounds> bounds;
  for (const v1::StockItem& model : models) {
    if (model.has_bounds()) bounds[model.id()] = model.bounds();
  }
  return bounds;
}

// Returns "the model tiny with max_length 3200 (its model has at most 512)".
std::string Described(const Misfit& misfit, const std::string& model) {
  const std::string name = misfit.field.substr(misfit.field.rfind('.') + 1);
  return absl::StrCat("a model ", model, " of ", name, " ", misfit.asked,
                      " (it has ", misfit.has, ")");
}

// Adds an item to a mark. Ids and sums hold neither of the two separators.
void AddToStock(std::string& mark,
                const std::map<std::string, std::string>& sums) {
  for (const auto& [id, sum] : sums) absl::StrAppend(&mark, id, " ", sum, "\n");
  absl::StrAppend(&mark, "\n");
}

// `what` is "model"; an empty id asks for nothing.
std::string Lacks(const std::map<std::string, std::string>& sums,
                  const char* what, const std::string& id,
                  const std::string& sum) {
  if (id.empty()) return "";
  const auto found = sums.find(id);
  if (found == sums.end()) return absl::StrCat("the ", what, " ", id);
  const bool fits =
      sum.empty() || found->second.empty() || found->second == sum;
  if (fits) return "";
  return absl::StrCat("the ", what, " ", id, " of SHA-256 ", sum);
}

}  // namespace

KnownStock::KnownStock(const v1::Worker& worker)
    : says_stock_(worker.has_stock()),
      models_(SumsOf(worker.stock().models())),
      bounds_(BoundsIn(worker.stock().models())),
      data_sets_(SumsOf(worker.stock().data_sets())),
      precisions_(worker.precisions().begin(), worker.precisions().end()) {
  const auto trainer = worker.labels().find(kTrainerLabel);
  if (says_stock_ && models_.empty() && data_sets_.empty() &&
      trainer != worker.labels().end()) {
    own_trainer_ = trainer->second;
  }
  trains_by_id_ = says_stock_ && trainer == worker.labels().end();
  AddToStock(mark_, models_);
  AddToStock(mark_, data_sets_);
  for (const auto& [id, of] : bounds_) {
    absl::StrAppend(&mark_, id, " ", of.layers(), " ", of.heads(), " ",
                    of.longest_text(), "\n");
  }
  for (const std::string& each : precisions_) {
    absl::StrAppend(&mark_, each, "\n");
  }
  absl::StrAppend(&mark_, says_stock_ ? "\n" : "all\n", own_trainer_,
                  trains_by_id_ ? "\nby id" : "");
}

std::string KnownStock::WhatLacks(const v1::StudySpec& spec,
                                  const std::string& precision) const {
  if (!precision.empty() && !precisions_.empty() &&
      !precisions_.contains(precision)) {
    return absl::StrCat("the precision ", precision);
  }
  if (!says_stock_ || !own_trainer_.empty()) return "";
  std::string lacks =
      Lacks(models_, "model", spec.model().id(), spec.model().sha256());
  if (!lacks.empty()) return lacks;
  if (const auto misfit = MisfitOf(spec)) {
    return Described(*misfit, spec.model().id());
  }
  lacks = Lacks(data_sets_, "data set", spec.data().id(), spec.data().sha256());
  for (const v1::TaskSpec& task : spec.tasks()) {
    if (!lacks.empty()) break;
    lacks =
        Lacks(data_sets_, "data set", task.data().id(), task.data().sha256());
  }
  for (const std::string& id : spec.training().also_evaluate()) {
    if (lacks.empty()) lacks = Lacks(data_sets_, "data set", id, "");
  }
  return lacks;
}

std::optional<Misfit> KnownStock::MisfitOf(const v1::StudySpec& spec) const {
  if (!own_trainer_.empty()) return std::nullopt;
  const v1::ModelRef& model = spec.model();
  const auto found = bounds_.find(model.id());
  if (found == bounds_.end()) return std::nullopt;
  const std::string& sum = models_.at(model.id());
  if (!model.sha256().empty() && !sum.empty() && sum != model.sha256()) {
    return std::nullopt;
  }
  const v1::ModelBounds& has = found->second;
  const auto differs = [](std::int64_t asked, std::int64_t is) {
    return asked != 0 && is != 0 && asked != is;
  };
  if (differs(model.layers(), has.layers())) {
    return Misfit{"model.layers", model.layers(), has.layers()};
  }
  if (differs(model.heads(), has.heads())) {
    return Misfit{"model.heads", model.heads(), has.heads()};
  }
  const std::int64_t length = spec.training().max_length();
  if (has.longest_text() == 0 || length <= has.longest_text()) {
    return std::nullopt;
  }
  return Misfit{"training.max_length", length, has.longest_text()};
}

StockPtr StockOf(const v1::Worker& worker) {
  if (!worker.has_stock() && worker.precisions().empty()) return nullptr;
  return std::make_shared<const KnownStock>(worker);
}

std::string WhatLacks(const StockPtr& stock, const v1::StudySpec& spec,
                      const std::string& precision) {
  return stock == nullptr ? "" : stock->WhatLacks(spec, precision);
}

WorkerEntry& WorkerBook::Absorb(const storage::WorkerRow& row) {
  WorkerEntry& entry = workers_[row.id];
  // The load of an earlier life says nothing about this one.
  if (entry.row.boot_id != row.boot_id) entry.load = nullptr;
  entry.row = row;
  entry.info.ParseFromString(row.info);
  entry.stock = StockOf(entry.info);
  return entry;
}

WorkerEntry* WorkerBook::Find(const std::string& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

absl::StatusOr<WorkerEntry*> WorkerBook::Require(const std::string& name,
                                                 const std::string& boot_id) {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(name));
  WorkerEntry* const entry = Find(id);
  if (entry == nullptr || entry->row.boot_id != boot_id) {
    return MakeError(ErrorId::kWorkerUnknown,
                     entry == nullptr
                         ? name + " is not registered"
                         : name + " is registered with another boot id",
                     "register the worker, then go on", "worker");
  }
  return entry;
}

void WorkerBook::Hold(const std::string& id, TrialKey trial) {
  if (WorkerEntry* const entry = Find(id)) entry->holds.insert(trial);
}

void WorkerBook::Release(const std::string& id, TrialKey trial) {
  if (WorkerEntry* const entry = Find(id)) entry->holds.erase(trial);
}

bool IsGone(const WorkerEntry& entry, WallMicros now, Duration lease_ttl) {
  constexpr int kLeases = 3;
  const auto ttl =
      std::chrono::duration_cast<std::chrono::microseconds>(lease_ttl);
  return entry.holds.empty() &&
         now - entry.row.last_seen > kLeases * ttl.count();
}

bool CarriesLabels(
    const v1::Worker& worker,
    const google::protobuf::Map<std::string, std::string>& required) {
  for (const auto& [key, value] : required) {
    const auto found = worker.labels().find(key);
    if (found == worker.labels().end() || found->second != value) return false;
  }
  return true;
}

absl::Status CheckFitsAModel(const WorkerBook& workers,
                             const v1::StudySpec& spec,
                             const v1::StudySettings& settings, WallMicros now,
                             Duration lease_ttl) {
  const std::string& model = spec.model().id();
  std::optional<Misfit> misfit;
  for (const auto& [id, worker] : workers.all()) {
    if (IsGone(worker, now, lease_ttl) ||
        !CarriesLabels(worker.info, settings.required_worker_labels())) {
      continue;
    }
    if (worker.stock == nullptr) return absl::OkStatus();
    auto found = worker.stock->MisfitOf(spec);
    if (!found.has_value() && worker.stock->MayHaveModel(model)) {
      return absl::OkStatus();
    }
    if (found.has_value()) misfit = std::move(found);
  }
  if (!misfit.has_value()) return absl::OkStatus();
  const auto& [field, asked, has] = *misfit;
  const std::string name = field.substr(field.rfind('.') + 1);
  if (field == "training.max_length") {
    return MakeError(
        ErrorId::kTrainerMismatch,
        absl::StrCat("training.max_length is ", asked, ", and ", model,
                     " of the workers reads at most ", has, " tokens"),
        absl::StrCat("write max_length: ", has, ", or less"), field);
  }
  return MakeError(ErrorId::kTrainerMismatch,
                   absl::StrCat("the study says that ", model, " has ", asked,
                                " ", name, "; that of the workers has ", has),
                   absl::StrCat("write ", name, ": ", has), field);
}

}  // namespace frostline::server
