// SPDX-License-Identifier: Apache-2.0
//
// File: model_config.h
//
// The shape of a model, as its config.json says under the names of its family.
// Multilingual BERT counts as BERT; XLM-R and DistilRoBERTa count as RoBERTa.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"

namespace frostline::trainer {

// Bottleneck adapters (Houlsby et al., 2019, figure 2). Each layer has two, one
// after the attention's last map and one after the feed forward's, before what
// the layer was given is added. After dropout, an adapter turns h into h + U
// f(D h + d) + u. U and both biases begin at 0 and D near 0, so training begins
// at the pretrained model.
struct BottleneckSpec {
  std::int64_t size = 0;  // 0: no adapters
  bool relu = false;      // else GELU, exact

  bool any() const { return size > 0; }
};

// Return the names of the two maps of the adapter after the linear map
// `linear`.
std::string DownNameOf(const std::string& linear);
std::string UpNameOf(const std::string& linear);

// Returns kMisuse for a bottleneck that is wider than the hidden states.
Expected<Done> CheckBottleneck(const BottleneckSpec& spec, std::int64_t hidden);

// Low-rank adapters (Hu et al., 2021) as peft has them: a linear map W x + b
// becomes W x + b + (alpha / rank) B A drop(x), where W and b stay as they are,
// A has `rank` rows and B as many columns. B begins at 0, so training begins at
// the pretrained model.

enum class LoraPart : std::uint8_t {
  kQuery,
  kKey,
  kValue,
  kAttentionOut,
  kFeedForwardIn,
  kFeedForwardOut,
  kFeedForwardGate,  // in a family that has it beside kFeedForwardIn
  kQueryKeyValue,    // in a family that has them in one map
};

// Which linear maps have low-rank adapters, and how large those are.
struct LoraSpec {
  std::int64_t rank = 0;  // of every layer; 0: as `ranks` says
  // Instead of that, by module ("layer.3", "layer.3.ffn"); 0: none. The weights
  // of these modules stay; modules that are not among them have no adapters,
  // and their weights train.
  std::map<std::string, std::int64_t> ranks = {};
  double alpha = 0.0;           // 0: as much as the rank
  double alpha_per_rank = 0.0;  // instead of alpha
  double dropout = 0.0;
  // The maps that are adapted, in every layer that has adapters.
  std::set<LoraPart> parts = {LoraPart::kQuery, LoraPart::kValue};

  bool any() const { return rank > 0 || !ranks.empty(); }
  // Returns 0 for a map without an adapter.
  std::int64_t RankOf(LoraPart part, std::int64_t layer) const;
  // Returns what an adapter of this rank is multiplied with.
  double ScaleOf(std::int64_t its_rank) const;
};

// Returns the part called "query", or by its name in a model of transformers
// ("q_lin").
std::optional<LoraPart> LoraPartOf(std::string_view name);

std::string_view NameOf(LoraPart part);

bool IsFeedForward(LoraPart part);

// Returns "query, key, …", to tell those who wrote another word.
std::string LoraPartNames();

// Returns kMisuse for a rank at which an adapter of these widths would be as
// large as what it adapts, and for a module none of whose maps is adapted.
Expected<Done> CheckLora(const LoraSpec& lora, std::int64_t hidden,
                         std::int64_t feed_forward);

enum class Family : std::uint8_t {
  kBert,
  kDistilBert,
  kRoberta,
  kElectra,
  kModernBert,
  kDebertaV3,
  kLlama,  // and what is made like it: SmolLM2, Qwen2, Qwen3
};

// kGelu is exact, kGeluTanh its approximation ("gelu_new").
enum class Activation : std::uint8_t { kGelu, kGeluTanh, kRelu, kTanh, kSilu };

// How rotary positions reach beyond the texts of pretraining: slow turns become
// slower by `factor`, quick ones stay as they are, and those between are mixed.
// Llama 3.1 mixes by how often they turn; YaRN, which Qwen uses, by their place
// among all turns, and makes what is rotated larger by `attention`.
struct RotaryScaling {
  enum class Kind : std::uint8_t { kNone, kLlama3, kYarn };

  Kind kind = Kind::kNone;
  double factor = 1.0;
  double low_frequency = 1.0;   // in turns of the texts of pretraining
  double high_frequency = 4.0;  // those that turn more often stay
  std::int64_t pretrained_positions = 0;
  double attention = 1.0;
};

// The most logits of answers that exist at a time (answers.h), 64 MiB in fp32;
// those of one token always do.
inline constexpr std::int64_t kMostLogits = std::int64_t{1} << 24;

// The shape of a model, and what a trial sets about it.
struct ModelConfig {
  Family family = Family::kBert;
  std::string model_type;  // "xlm-roberta"
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;        // 768
  std::int64_t embedding = 0;     // of the tables; 0: as wide as `hidden`
  std::int64_t layers = 0;        // 12
  std::int64_t heads = 0;         // 12
  std::int64_t key_heads = 0;     // of keys and values; 0: as many
  std::int64_t head_width = 0;    // 0: hidden / heads
  std::int64_t feed_forward = 0;  // 3072
  std::int64_t positions = 0;     // rows of the table
  std::int64_t types = 0;         // 0: no token types
  bool gated = false;             // the feed forward has a second half
  bool decoder = false;  // a token sees none after it; texts end in their sense
  bool qkv_bias = false;    // of a decoder
  bool head_norms = false;  // of a decoder: of queries and keys
  // Of a decoder: next tokens are told by the table of embeddings; else by one
  // of their own, "lm_head".
  bool tied = false;
  std::vector<std::int64_t> ends;  // tokens that end what a decoder says
  std::int64_t pad_id = 0;
  bool pads_alone =
      true;  // no text has the padding id: its row has no gradient
  Activation activation = Activation::kGelu;
  double norm_epsilon = 1e-12;
  double hidden_dropout = 0.1;
  std::optional<double> embedding_dropout;  // else the hidden one
  double attention_dropout = 0.1;
  double sequence_dropout = 0.1;  // before the head of a sequence
  double token_dropout = 0.1;     // before the head of tokens
  double pooler_dropout = 0.0;    // before the pooler
  Activation head_activation = Activation::kGelu;  // where it is a setting
  bool mean_classifier = false;  // a whole text is the mean of its tokens
  // Rotary positions: their base, their base in local layers, which layers are
  // local, and how many tokens a local layer sees to each side.
  double theta = 0.0;
  double local_theta = 0.0;
  RotaryScaling rotary_scaling;
  std::vector<bool> local_layers;
  std::int64_t window = 0;
  // Attention by distance: how many distances to each side have a row. Far ones
  // share rows; with 0 buckets none do.
  std::int64_t farthest = 0;
  std::int64_t buckets = 0;
  double initializer_range = 0.02;
  std::vector<std::string> labels;  // by class; may be empty
  // Set by a trial; no config.json that is read has one.
  LoraSpec lora;
  BottleneckSpec bottleneck;
  bool recomputes = false;  // layers, on the way back (recompute.h)

  // Adapters train instead of the weights of embeddings and layers, or of some
  // layers.
  bool adapted() const { return lora.any() || bottleneck.any(); }
  std::int64_t head_size() const {
    return head_width > 0 ? head_width : hidden / heads;
  }
  std::int64_t heads_of_keys() const {
    return key_heads > 0 ? key_heads : heads;
  }
  // Returns how many numbers queries have, and keys or values.
  std::int64_t query_width() const { return heads * head_size(); }
  std::int64_t key_width() const { return heads_of_keys() * head_size(); }
  // Several heads of queries share one of keys, so that none stands alone.
  bool shares_heads() const { return heads_of_keys() != heads; }
  std::int64_t table_width() const {
    return embedding == 0 ? hidden : embedding;
  }
  // Returns half of the number of rows for distances; 0 without them.
  std::int64_t span() const { return buckets > 0 ? buckets : farthest; }
  double dropout_of_embeddings() const {
    return embedding_dropout.value_or(hidden_dropout);
  }
  // Returns where positions begin. RoBERTa counts them from its padding id + 1.
  std::int64_t first_position() const {
    return family == Family::kRoberta ? pad_id + 1 : 0;
  }
  std::int64_t longest_text() const { return positions - first_position(); }
};

// What to do with bottleneck adapters that an exported folder has.
enum class SavedAdapters : std::uint8_t {
  kRefuse,  // a trial cannot train them further
  kTake,
};

// Reads a config.json. Returns kUnsupported for a model, an activation or a
// kind of position that is not imitated exactly, and kInconsistent for numbers
// that make no model.
Expected<ModelConfig> ReadModelConfig(
    std::string_view json, SavedAdapters adapters = SavedAdapters::kRefuse);

// A reader of members of a config.json by name and type. It keeps the first
// fault.
class ConfigMembers {
 public:
  // `root` outlives it.
  explicit ConfigMembers(const JsonValue& root) : root_(&root) {}

  // Returns a whole number from `lowest` to `highest`, which must be there.
  std::int64_t Count(std::string_view name, std::int64_t lowest,
                     std::int64_t highest);
  // Returns the same, or `otherwise` if it is not there.
  std::int64_t CountOr(std::string_view name, std::int64_t lowest,
                       std::int64_t highest, std::int64_t otherwise);
  // Returns a number in [0, `below`), or `otherwise` if it is not there.
  double Number(std::string_view name, double below, double otherwise);
  std::string Text(std::string_view name, std::string_view otherwise);
  bool Flag(std::string_view name, bool otherwise);
  Activation ActivationOf(std::string_view name, std::string_view otherwise);

  // Returns null if it is absent or null.
  const JsonValue* Find(std::string_view name) const;
  // Returns the members of the object `name`, or of an empty one. The first
  // fault stays here.
  ConfigMembers Within(std::string_view name) const;

  // Fails with kUnsupported unless `name` is `only`, or is absent and `usual`
  // is `only`.
  void MustBe(std::string_view name, std::string_view only,
              std::string_view usual);
  void Fail(FaultKind kind, const std::string& what);
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue* root_;
  std::optional<Fault> fault_;
};

// Returns the names of the classes 0, 1, … in an "id2label", or nothing if one
// is missing.
std::vector<std::string> NamesOfClasses(const JsonValue& id2label);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
