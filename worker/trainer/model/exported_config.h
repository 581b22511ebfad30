// SPDX-License-Identifier: Apache-2.0
//
// File: exported_config.h
//
// What the config.json of a fine-tuned model says beside its encoder: what its
// head answers, and how its texts were read. transformers ignores our member.
//
//   "frostline_texts": {"max_length": 64, "lowercase": true,
//                       "strip_accents": false}
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_EXPORTED_CONFIG_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_EXPORTED_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {

inline constexpr char kTextsMember[] = "frostline_texts";

// How the texts of a fine-tuned model were read.
struct TextReading {
  std::int64_t max_length = 0;  // 0: nobody has said
  bool lowercase = false;
  bool strip_accents = false;
  bool chat = false;  // prompts are a user's questions
};

// What a fine-tuned model answers, and how it reads texts.
struct ExportedFacts {
  Task task = Task::kSequence;
  std::vector<std::string> labels;  // by class; empty for numbers
  TextReading texts;
};

// Reads what Frostline exports, and what transformers saves for a classifier of
// texts or words or for a regression. Returns kUnsupported for another
// architecture, and kInconsistent if classes have no names.
Expected<ExportedFacts> ReadExportedFacts(std::string_view config_json);

// Returns our member for a config.json, or "" if there is nothing to say.
std::string TextsMember(const TextReading& texts);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_EXPORTED_CONFIG_H_
