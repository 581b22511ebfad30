// SPDX-License-Identifier: Apache-2.0
//
// File: other_tools.h
//
// A freeze plan in the words of other tools: settings of axolotl,
// LLaMA-Factory and ms-swift, lines of Python for peft, unsloth, timm, torch
// and the Trainer of transformers. What a tool has no word for is said, and
// stands at the head of the text too. tests/python/plan_words_test.py loads
// each text into the tool itself.
#ifndef FROSTLINE_IMPORTANCE_PLAN_OTHER_TOOLS_H_
#define FROSTLINE_IMPORTANCE_PLAN_OTHER_TOOLS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::importance {

struct RatedModule {
  std::string module;  // "layer.3"
  double rate = 0.0;   // 0: frozen
  // Where the study searches ranks: of the adapter that trains in place of the
  // weights; 0: none. Else LoraOfPlan says what trains.
  std::optional<int> rank = {};
};

// Adapters of low rank that train in the place of layers' weights.
struct LoraOfPlan {
  int rank = 0;  // 0: there are none; of several ranks the most usual one
  double alpha = 0.0;
  double alpha_per_rank = 0.0;  // 0: alpha is the same for every rank
  double dropout = 0.0;
  std::vector<std::string> maps;  // our words for them: "query"
};

// What is to be said.
struct PlanToSay {
  std::string study;                 // its id
  std::vector<RatedModule> modules;  // all of the model
  LoraOfPlan lora;
};

struct PlanInTool {
  std::string tool;
  std::string text;                     // a file, with a line's end at its end
  std::vector<std::string> cannot_say;  // sentences
};

// The tools, in the order in which they are listed.
std::vector<std::string> ToolsForPlans();

// Returns REQUEST_INVALID for a tool that is not among them, and where nothing
// trains that the tool could be told of.
absl::StatusOr<PlanInTool> SayPlanFor(const std::string& tool,
                                      const PlanToSay& plan);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_OTHER_TOOLS_H_
