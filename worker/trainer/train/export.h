// SPDX-License-Identifier: Apache-2.0
//
// File: export.h
//
// A trained model as a folder that transformers loads: config.json,
// model.safetensors, and the tokenizer's files. Adapters are merged into the
// weights they adapt: nobody needs peft to load it.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

// The config.json of a model that was made from `original`: its members, with
// the head's architecture and labels in the place of old ones. `labels` has a
// name for each class, or is empty. kUnsupported for a pair's head, of which
// transformers knows nothing.
Expected<std::string> ExportedConfig(std::string_view original,
                                     const Model& model,
                                     const std::vector<std::string>& labels);

// Makes `folder` when it is not there, and replaces the files of these names in
// it; config.json comes last, so that a folder that has one is complete.
// `source` is the folder that the model was loaded from: its tokenizer is
// copied.
Expected<Done> ExportModel(const std::string& folder, const Model& model,
                           const std::string& source,
                           const std::vector<std::string>& labels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_
