// SPDX-License-Identifier: Apache-2.0
//
// File: trial_preparer.h
//
// Keeps pretrained weights, data sets and tokens from trial to trial.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_PREPARER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_PREPARER_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/load.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/train/audit.h"
#include "worker/trainer/trial/trial_message.h"

namespace frostline::trainer {

// A cache of at most `most` values. A full one drops the value that was used
// longest ago. Whoever holds a value keeps it alive. One thread uses it.
template <typename Key, typename Value>
class LruCache {
 public:
  using Held = std::shared_ptr<const Value>;

  explicit LruCache(std::size_t most) : most_(most) {}

  // Returns null when absent.
  Held Find(const Key& key) {
    const auto at = std::ranges::find(entries_, key, &Entry::first);
    if (at == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), at, at + 1);
    return entries_.front().second;
  }

  Held Put(const Key& key, Value value) {
    if (entries_.size() >= most_) entries_.pop_back();
    entries_.insert(entries_.begin(),
                    {key, std::make_shared<const Value>(std::move(value))});
    return entries_.front().second;
  }

  void Clear() { entries_.clear(); }

 private:
  using Entry = std::pair<Key, Held>;

  std::size_t most_;
  std::vector<Entry> entries_;
};

// A pretrained model on the device, with its heads. Nobody changes it.
struct Pretrained {
  LoadedModel loaded;
  std::string folder;
  std::string sha256;  // of the weights
  // What trials found out about it: whether it was changed all the same, the
  // sums of weights that some trial froze, against which later ones compare,
  // and the signals of its matrices (freeze/layer_rules.h).
  struct Findings {
    bool spoilt = false;
    WeightSums sums = {};
    std::map<std::string, double> signals = {};
  };
  std::shared_ptr<Findings> findings = std::make_shared<Findings>();
};

// The models of the operator's registry, each loaded when first asked for. An
// encoder is kept once for all heads that studies put on it. One thread uses
// it. The device outlives it.
class ModelCache {
 public:
  // Reads models.yaml once.
  static Expected<ModelCache> Open(VerifiedFiles& files, const Device& device);

  // Returns the model with these heads, after its files' sums were compared.
  // When it loads a head, `log` receives what was missing, unexpected or drawn
  // anew. It asks `stop` while it computes sums and reads weights.
  Expected<std::shared_ptr<const Pretrained>> Weights(
      VerifiedFiles& files, const ModelRequest& request, const Heads& heads,
      const StopSign& stop, std::vector<std::string>& log);
  Expected<std::shared_ptr<const Tokenizer>> TokenizerOf(
      const Pretrained& pretrained);

 private:
  ModelCache(ModelEntries models, const Device& device)
      : models_(std::move(models)), device_(&device) {}

  // Checks the files of the model, and returns its folder.
  static Expected<std::string> Verify(VerifiedFiles& files,
                                      const ModelEntry& entry,
                                      const ModelRequest& request,
                                      const StopSign& stop);
  struct ShelvedEncoder {
    TransformerEncoder encoder;
    std::string config_json;
  };
  struct Parts {
    std::shared_ptr<const ShelvedEncoder> encoder;
    std::vector<std::shared_ptr<const LoadedHead>> heads;
  };
  // Reads the parts that are null.
  Expected<Done> Load(const std::string& id, const std::string& folder,
                      const Heads& heads, const StopSign& stop, Parts& parts);
  static LoadedModel Joined(const Parts& parts);

  ModelEntries models_;
  const Device* device_;
  // A slot works on one study, or on two by turns; encoders may fill a GPU, and
  // heads are small. `joined_` is used in the same order as `encoders_` and is
  // no larger, so it keeps no dropped encoder alive.
  LruCache<std::string, ShelvedEncoder> encoders_{2};
  LruCache<std::string, LoadedHead> heads_{24};
  LruCache<std::string, Pretrained> joined_{2};
  LruCache<std::string, Tokenizer> tokenizers_{2};
};

// Rows that a trial evaluates, with their tokens.
struct EvaluationSet {
  // The prefix of its metrics: "" for validation, "test.", "imdb.". For a task:
  // "sst.", "sst.test.".
  std::string name;
  DataPart part;
  std::shared_ptr<const TokenStore> tokens;
};

// One task of a trial, with its data and tokens.
struct TaskSetup {
  TaskRequest request;
  HeadSpec head;
  std::shared_ptr<const TaskData> data;
  std::shared_ptr<const TokenStore> train;
  EvaluationSet validation;
  std::vector<EvaluationSet> others;  // evaluated once, at the end
  // The sets whose predictions are written: "validation", "train", or others.
  std::set<std::string> predicted;

  // Returns "test", or the id of a data set.
  std::string SetOf(const EvaluationSet& other) const {
    const std::size_t before = request.prefix().size();
    return other.name.substr(before, other.name.size() - before - 1);
  }
};

// What a trial trains with: a model, and its tasks.
struct TrialSetup {
  std::shared_ptr<const Pretrained> pretrained;
  std::vector<TaskSetup> tasks;  // one or more

  Heads heads() const;
  bool many() const { return tasks.size() > 1 || !tasks[0].head.name.empty(); }
};

// What a trial borrows from its trainer. All of it outlives the trial.
struct TrialEnvironment {
  Device& device;
  std::function<double()> seconds;  // of a steady clock
  // The time between two checkpoints; 0 saves after every step.
  double checkpoint_seconds = 300.0;
  const PrefixStore* prefixes = nullptr;  // null: none is kept
  std::string kernels;                    // KernelFingerprint of the device
  // What earlier trials learnt about sizes of batches. May be null.
  SizeBook* size_book = nullptr;
  // Rows of frozen layers that the device keeps for all trials. May be null.
  ResidentRows* resident = nullptr;
  // Of this process, on all cores. None: it is not counted.
  std::function<double()> processor_seconds = {};
};

// Returns how many tokens of a text a trial reads at most, special ones
// included.
std::int64_t LongestText(const TrainingSettings& training,
                         const ModelConfig& config);

// Answers end with the tokenizer's own token for that, else with the model's.
void EndAnswersOf(const ModelConfig& config, Tokenizer& tokenizer);

// The models, data and tokens that trials need, prepared on demand and kept for
// the next trials. One thread uses it.
class TrialPreparer {
 public:
  // `registry` is the operator's folder, with datasets.yaml and models.yaml.
  static Expected<TrialPreparer> Open(const std::string& registry,
                                      const Device& device);

  // Prepares what the trial needs. `log` receives a line for each thing that
  // was loaded. After a stop it returns kStopped within a row, a tensor or a
  // mebibyte; what was loaded whole stays.
  Expected<TrialSetup> Prepare(const TrialMessage& trial, const StopSign& stop,
                               std::vector<std::string>& log);

 private:
  TrialPreparer(DataLoader data, ModelCache models)
      : data_loader_(std::move(data)), models_(std::move(models)) {}

  Expected<std::shared_ptr<const TaskData>> Data(const DataRequest& request,
                                                 const StopSign& stop,
                                                 std::vector<std::string>& log);
  Expected<std::shared_ptr<const TokenStore>> Tokens(
      const DataPart& part, const TrialMessage& trial, const HeadSpec& head,
      const Pretrained& pretrained, const StopSign& stop, bool trains = false);
  Expected<Done> AddTokens(const TrialMessage& trial,
                           const Pretrained& pretrained, const StopSign& stop,
                           TaskSetup& task);
  // `name` is "test", or the id of a data set.
  Expected<Done> AddOther(const TrialMessage& trial, const std::string& name,
                          const Pretrained& pretrained, const StopSign& stop,
                          TaskSetup& task);

  DataLoader data_loader_;
  ModelCache models_;
  LruCache<DataRequest, TaskData> data_{16};
  LruCache<std::pair<DataRequest, std::string>, DataPart> others_{32};
  LruCache<std::string, TokenStore> tokens_{64};
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_PREPARER_H_
