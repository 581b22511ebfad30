// SPDX-License-Identifier: Apache-2.0
//
// File: export.h
//
// Saves a trained model as a folder that transformers loads. Adapters of LoRA
// are merged, so nobody needs peft. Bottlenecks cannot be, for what lies
// between their maps: they are saved beside the weights
// (docs/reference/trainer.md).
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

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

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_EXPORT_H_
