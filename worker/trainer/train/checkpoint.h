// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint.h
//
// A trial can go on from one safetensors file, written whole or not at all, of
// what training changed (the weights that train and their moments) and the name
// of the pretrained folder; noise has no state. On one machine and CPU, going
// on gives the same bits as never having stopped.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// Copies of the weights that a trial trains, to hand over later as they were.
// They lie in main memory: a GPU's is for training.

using WeightCopies = std::map<std::string, at::Tensor>;  // by their names

// Copies the weights that `trains` marks, by their place in weights(). Throws
// what LibTorch throws.
WeightCopies CopyWeights(const Model& model, const std::vector<bool>& trains);

// Returns kInconsistent, and changes nothing, where `copies` are not of just
// these weights. Throws what LibTorch throws.
Expected<Done> PutBack(const WeightCopies& copies,
                       const std::vector<bool>& trains, Model& model);

// Callers keep UTF-8 here, such as where reading stood.
using Notes = std::map<std::string, std::string>;

// A copy of all that a checkpoint holds, in memory of its own, so that training
// may go on while it is written.
struct CheckpointCopy {
  std::map<std::string, at::Tensor> tensors;  // in main memory
  std::map<std::string, std::string> metadata;
};

Expected<CheckpointCopy> CopyForCheckpoint(const Stepper& stepper,
                                           const Notes& notes,
                                           const WeightCopies& kept = {});

// Returns kUnreadable when the disk says no; then an earlier file is still
// there. Any thread may call it.
Expected<Done> WriteCheckpoint(const std::string& path, CheckpointCopy copy);

// The same without a copy. `kept` are weights as they were at an earlier step.
Expected<Done> SaveCheckpoint(const std::string& path, const Stepper& stepper,
                              const Notes& notes,
                              const WeightCopies& kept = {});

// `stepper` has the same model, plan and options. `kept`, when given, receives
// those of the file, perhaps none. Returns kInconsistent when the file is of
// another trial or damaged: then nothing was taken over.
Expected<Notes> LoadCheckpoint(const std::string& path, Stepper& stepper,
                               WeightCopies* kept = nullptr);

// Writes checkpoints beside training, one after the other, so that no step
// waits for a disk.

struct WrittenCheckpoint {
  std::string name;
  std::int64_t step = 0;
  Expected<Done> done;
};

// Writes one checkpoint at a time in a thread of its own. One thread uses it.
// Its destructor waits for the write.
class CheckpointWriter {
 public:
  // Nobody writes. `write` runs in the other thread and shares nothing with
  // this one.
  void Begin(const std::string& name, std::int64_t step,
             std::function<Expected<Done>()> write);

  bool writes() const { return written_.valid(); }
  // What was begun, once it has ended; nothing while it is written, or where
  // nothing is.
  std::optional<WrittenCheckpoint> Take();
  // Waits for the end.
  std::optional<WrittenCheckpoint> Await();

 private:
  std::string name_;
  std::int64_t step_ = 0;
  std::future<Expected<Done>> written_;
};

// Saves a trained model as a folder that transformers loads. Adapters of LoRA
// are merged, so nobody needs peft. Bottlenecks cannot be, for what lies
// between their maps: they are saved beside the weights
// (docs/reference/trainer.md).

// Puts the head's architecture and `labels` (a name for each class, or empty;
// else kMisuse) and how texts were read into the members of `original`. Returns
// kUnsupported for a pair's head, which transformers does not know.
Expected<std::string> ExportedConfig(std::string_view original,
                                     const Model& model,
                                     const std::vector<std::string>& labels,
                                     const TextReading& texts = {});

// Makes `folder`, or replaces files of these names in it; config.json comes
// last, so a folder that has one is complete. The tokenizer comes from
// `source`, where the model was loaded.
Expected<Done> ExportModel(const std::string& folder, const Model& model,
                           const std::string& source,
                           const std::vector<std::string>& labels,
                           const TextReading& texts = {});

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_CHECKPOINT_H_
