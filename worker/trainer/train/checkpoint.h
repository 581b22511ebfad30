// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint.h
//
// Saves a trial so that it can go on: one safetensors file, written whole or
// not at all. It holds what training changed, which is the weights that train
// and their moments; noise has no state. On one machine and CPU, going on gives
// the same bits as never having stopped.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// Copies of the weights that a trial trains, to hand over later as they were.
// They lie in main memory, because a GPU's memory is for training.

using WeightCopies = std::map<std::string, at::Tensor>;  // by their names

// Returns copies of the weights that `trains` marks, by their place in
// weights(). Throws what LibTorch throws.
WeightCopies CopyWeights(const Model& model, const std::vector<bool>& trains);

// Writes the copies back into the model. Returns kInconsistent, and changes
// nothing, if `copies` holds other weights. Throws what LibTorch throws.
Expected<Done> PutBack(const WeightCopies& copies,
                       const std::vector<bool>& trains, Model& model);

// Texts in UTF-8 that the caller keeps in a checkpoint, such as its place in
// the data.
using Notes = std::map<std::string, std::string>;

// All that a checkpoint holds, copied, so that training can go on while it is
// written.
struct CheckpointCopy {
  std::map<std::string, at::Tensor> tensors;  // in main memory
  std::map<std::string, std::string> metadata;
};

Expected<CheckpointCopy> CopyForCheckpoint(const Stepper& stepper,
                                           const Notes& notes,
                                           const WeightCopies& kept = {});

// Writes the copy. Returns kUnreadable if the disk refuses; then an earlier
// file is still there. Any thread may call it.
Expected<Done> WriteCheckpoint(const std::string& path, CheckpointCopy copy);

// Writes a checkpoint without a copy. `kept` holds weights of an earlier step.
Expected<Done> SaveCheckpoint(const std::string& path, const Stepper& stepper,
                              const Notes& notes,
                              const WeightCopies& kept = {});

// Loads a checkpoint into `stepper`, which has the same model, plan and
// options. `kept`, if given, receives those of the file, perhaps none. Returns
// kInconsistent, and changes nothing, if the file is damaged or of another
// trial.
Expected<Notes> LoadCheckpoint(const std::string& path, Stepper& stepper,
                               WeightCopies* kept = nullptr);

// Returns what the caller kept in a checkpoint, without its tensors. Their
// checksum is not read: LoadCheckpoint says whether the file can be used.
Expected<Notes> ReadNotes(const std::string& path);

// The result of one write.
struct WrittenCheckpoint {
  std::string name;
  std::int64_t step = 0;
  Expected<Done> done;
};

// A writer of checkpoints beside training, one at a time, in a thread of its
// own, so that no step waits for a disk. One thread uses it. Its destructor
// waits for the write.
class CheckpointWriter {
 public:
  // Begins a write. REQUIRES: none is under way. `write` runs in the other
  // thread and shares nothing with this one.
  void Begin(const std::string& name, std::int64_t step,
             std::function<Expected<Done>()> write);

  bool writes() const { return written_.valid(); }
  // Returns the write that was begun, once it has ended. Returns nothing before
  // that, or if none was begun.
  std::optional<WrittenCheckpoint> Take();
  // Waits for the end of the write, if there is one, and returns it.
  std::optional<WrittenCheckpoint> Await();

 private:
  std::string name_;
  std::int64_t step_ = 0;
  std::future<Expected<Done>> written_;
};

// Saves a trained model as a folder that transformers loads. Adapters of LoRA
// are merged, so nobody needs peft. Bottlenecks cannot be merged, because an
// activation lies between their maps. They are saved beside the weights
// (docs/reference/trainer.md).

// Returns `original` with the head's architecture, `labels` and how texts were
// read. `labels` has a name for each class or is empty, else it returns
// kMisuse. Returns kUnsupported for a pair's head, which transformers does not
// know.
Expected<std::string> ExportedConfig(std::string_view original,
                                     const Model& model,
                                     const std::vector<std::string>& labels,
                                     const TextReading& texts = {});

// Writes the model into `folder`, which it makes if it is missing. config.json
// comes last, so a folder that has one is complete. The tokenizer comes from
// `source`, where the model was loaded.
Expected<Done> ExportModel(const std::string& folder, const Model& model,
                           const std::string& source,
                           const std::vector<std::string>& labels,
                           const TextReading& texts = {});

// Writes what a model with low-rank adapters has learnt as a folder that peft
// loads onto the model `base`, whose id it names: the adapters with the rank
// and the alpha of each, and whole the modules of heads and of the weights
// named in `trained`. Writes nothing, and returns false, for a model of which
// no map has an adapter.
Expected<bool> ExportAdapters(const std::string& folder, const Model& model,
                              const std::set<std::string>& trained,
                              const std::string& base);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
