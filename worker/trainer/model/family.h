// SPDX-License-Identifier: Apache-2.0
//
// File: family.h
//
// What sets one family of models apart from another, without LibTorch: how its
// config.json is read, what its weights are called, what its head looks like.
// How it computes is in blocks.h.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/model/config_members.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameter_lister.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {

// A head, from the encoder up: a pooler, a dense layer and the output map, with
// dropout before each that says so. Empty names: it is not there.
struct HeadShape {
  std::string pooler;  // a module of its own
  Activation pooler_activation = Activation::kTanh;
  double pooler_dropout = 0.0;
  std::string dense;
  bool dense_bias = true;
  bool drops_before_dense = false;
  Activation dense_activation = Activation::kTanh;
  std::string dense_norm;
  std::string output;
};

// All are constants and alive for ever; any thread may ask them.
class FamilyRules {
 public:
  virtual ~FamilyRules() = default;

  // "bert." stands before the names of the encoder; files may lack it, so that
  // names begin with one of EncoderParts.
  virtual std::string_view prefix() const = 0;
  virtual std::vector<std::string_view> EncoderParts() const = 0;
  // Names of heads of pretraining begin so.
  virtual std::vector<std::string_view> Leftovers() const = 0;

  // Where the config.json does not say.
  virtual std::int64_t UsualPadId() const { return 0; }
  // What all families have under one name has been read.
  virtual void Read(ConfigMembers& members, ModelConfig& config) const = 0;

  virtual void ListEmbeddings(const ModelConfig& config,
                              ParameterLister& list) const = 0;
  virtual void ListLayer(const ModelConfig& config, std::int64_t layer,
                         ParameterLister& list) const = 0;
  virtual LayerNames NamesOf(const ModelConfig& config,
                             std::int64_t layer) const = 0;
  virtual HeadShape HeadOf(const ModelConfig& config,
                           const HeadSpec& head) const = 0;
};

// Lists a layer whose maps and norms all have a bias.
void ListPlainLayer(const ModelConfig& config, const LayerNames& names,
                    std::int64_t layer, ParameterLister& list);

// The factory: a model_type finds its family, a family its rules.
struct KnownModel {
  std::string_view model_type;
  std::string_view class_name;  // as transformers' classes begin
  Family family;
};
std::span<const KnownModel> KnownModels();
const FamilyRules& RulesOf(Family family);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_
