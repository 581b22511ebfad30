// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/other_tools.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/error.h"

namespace frostline::importance {
namespace {

// Expressions for names of weights, as Python reads them. Every library names
// its stack of layers in one of these ways.
constexpr char kStack[] = R"((?:^|\.)(?:layers?|h|blocks?|resblocks)\.)";
constexpr char kNoLayer[] =
    R"(^(?!.*(?:^|\.)(?:layers?|h|blocks?|resblocks)\.\d+\.))";
// DeBERTa normalizes its table of distances by `encoder.LayerNorm`.
constexpr char kOfEmbeddings[] =
    R"((?:.*\.)?(?:(?:\w*embed\w*|wte|wpe|\w*_token)(?:\.|$)|encoder\.LayerNorm\.))";
constexpr char kOfPooler[] = R"((?:.*\.)?pooler\.)";
// The norm behind the last layer, which our trainer counts as that layer's.
constexpr char kOfLastNorm[] =
    R"((?!(?:.*\.)?(?:\w*embed\w*|pooler|\w*head\w*|cls|\w*classifier|score)\.))"
    R"((?:.*\.)?(?:norm|final_norm|final_layer_norm|ln_f|ln_post|layernorm)\.)";
// What of a layer is of its attention. The norm behind it is of the other part.
constexpr char kOfAttention[] =
    R"((?!post_attention)(?:\w*(?:attn|attention)\w*|input_layernorm|norm1|ln_?1|layernorm_before)\.)";

enum class PartKind { kEmbeddings, kLayer, kAttention, kFfn, kPooler, kHead };

// A module and where it is.
struct ModelPart {
  PartKind kind = PartKind::kHead;
  int layer = -1;
  double rate = 0.0;
  std::optional<int> rank = {};  // see RatedModule

  bool trains() const { return rate > 0.0; }
  bool in_layer() const { return layer >= 0; }
};

std::string RateText(double rate) { return absl::StrFormat("%.6g", rate); }

std::string Numbers(const std::vector<int>& numbers, const char* between) {
  return absl::StrJoin(numbers, between);
}

std::string ListOf(const std::vector<std::string>& words) {
  return absl::StrJoin(words, ", ");
}

// "3", "(?:3|5)".
std::string AnyOf(const std::vector<int>& numbers) {
  return numbers.size() == 1 ? absl::StrCat(numbers[0])
                             : absl::StrCat("(?:", Numbers(numbers, "|"), ")");
}

// A plan as its parts, sorted by what they are, and what is asked of it by
// several tools.
class ModelParts {
 public:
  explicit ModelParts(const PlanToSay& plan) : lora_(plan.lora) {
    for (const RatedModule& module : plan.modules) Add(module);
    for (std::size_t i = parts_.size(); i-- > 0;) TakeRestOfLayer(i);
  }

  const std::vector<ModelPart>& all() const { return parts_; }
  const std::vector<std::string>& names() const { return names_; }  // of all()
  const LoraOfPlan& lora() const { return lora_; }
  bool has_adapters() const { return lora_.rank > 0; }
  // The study searches ranks: a module without one trains whole.
  bool has_ranks() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const ModelPart& part) {
      return part.rank.has_value();
    });
  }
  bool IsAdapted(const ModelPart& part) const {
    if (!part.in_layer() || !part.trains()) return false;
    return has_ranks() ? part.rank.value_or(0) > 0 : has_adapters();
  }
  int layers() const { return layers_; }
  // The index of the part that has the norm behind the last layer: that layer,
  // or its second half.
  std::optional<std::size_t> OfLastNorm() const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PartKind kind = parts_[i].kind;
      if (parts_[i].layer == layers_ - 1 &&
          (kind == PartKind::kLayer || kind == PartKind::kFfn)) {
        return i;
      }
    }
    return std::nullopt;
  }
  // Modules that are one here and several in the plan, with different rates.
  const std::set<std::string>& joined() const { return joined_; }

  bool Has(PartKind kind) const {
    return std::any_of(
        parts_.begin(), parts_.end(),
        [kind](const ModelPart& part) { return part.kind == kind; });
  }

  // Says whether a module of the kind outside of layers trains.
  bool Trains(PartKind kind) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [kind](const ModelPart& part) {
                         return part.kind == kind && part.trains();
                       });
  }

  // Layers of which something trains.
  std::vector<int> TrainedLayers() const {
    std::set<int> layers;
    for (const ModelPart& part : parts_) {
      if (part.in_layer() && part.trains()) layers.insert(part.layer);
    }
    return {layers.begin(), layers.end()};
  }

  // Layers of which an adapter trains; of a plan without adapters all that
  // train, as adapters stand in for them.
  std::vector<int> AdaptedLayers() const {
    if (!has_ranks()) return TrainedLayers();
    std::set<int> layers;
    for (const ModelPart& part : parts_) {
      if (IsAdapted(part)) layers.insert(part.layer);
    }
    return {layers.begin(), layers.end()};
  }

  // Parts of layers that train whole beside adapters.
  std::vector<std::size_t> WholeParts() const {
    std::vector<std::size_t> whole;
    for (std::size_t i = 0; has_ranks() && i < parts_.size(); ++i) {
      const ModelPart& part = parts_[i];
      if (part.in_layer() && part.trains() && !IsAdapted(part)) {
        whole.push_back(i);
      }
    }
    return whole;
  }

  // What has to be said of ranks beyond one for all layers that have adapters.
  std::vector<std::string> RanksApart() const {
    std::vector<std::string> apart;
    for (std::size_t i = 0; has_ranks() && i < parts_.size(); ++i) {
      const ModelPart& part = parts_[i];
      const bool is_half = part.in_layer() && part.kind != PartKind::kLayer;
      if (IsAdapted(part) && (*part.rank != lora_.rank || is_half)) {
        apart.push_back(absl::StrCat(names_[i], " at rank ", *part.rank));
      }
    }
    for (const std::size_t i : WholeParts()) {
      apart.push_back(absl::StrCat(names_[i], " whole"));
    }
    return apart;
  }

  // The rate of most modules that train, the larger of two; 0 if none does.
  double UsualRate() const {
    std::map<double, int> counts;
    for (const ModelPart& part : parts_) {
      if (part.trains()) ++counts[part.rate];
    }
    double usual = 0.0;
    int most = 0;
    for (const auto& [rate, count] : counts) {
      if (count >= most) std::tie(usual, most) = std::pair(rate, count);
    }
    return usual;
  }

  // Modules that train at another rate than the usual one.
  std::vector<std::string> Unusual() const {
    std::vector<std::string> names;
    const double usual = UsualRate();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].trains() && parts_[i].rate != usual) {
        names.push_back(
            absl::StrCat(names_[i], " at ", RateText(parts_[i].rate)));
      }
    }
    return names;
  }

 private:
  void Add(const RatedModule& module) {
    const std::vector<std::string> words = absl::StrSplit(module.module, '.');
    ModelPart part{.rate = module.rate, .rank = module.rank};
    if (words[0] == "embeddings") part.kind = PartKind::kEmbeddings;
    if (words[0] == "pooler") part.kind = PartKind::kPooler;
    if (words[0] == "layer" && words.size() >= 2 &&
        absl::SimpleAtoi(words[1], &part.layer)) {
      part.kind = words.size() == 2   ? PartKind::kLayer
                  : words[2] == "ffn" ? PartKind::kFfn
                                      : PartKind::kAttention;
      layers_ = std::max(layers_, part.layer + 1);
    }
    if (Join(part)) return;
    parts_.push_back(part);
    names_.push_back(part.kind == PartKind::kHead ? "head"
                     : words.size() == 4
                         ? absl::StrCat("layer.", part.layer, ".attention")
                         : module.module);
  }

  // Takes single heads of a layer, and heads of several tasks, as one module,
  // at the largest of their rates.
  bool Join(const ModelPart& more) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      ModelPart& part = parts_[i];
      if (part.kind != more.kind || part.layer != more.layer) continue;
      if (part.rate != more.rate) {
        joined_.insert(names_[i]);
      }
      part.rate = std::max(part.rate, more.rate);
      part.rank = std::max(part.rank, more.rank);
      return true;
    }
    return false;
  }

  // A layer of which a part is a module of its own is what is left of it: the
  // other part, or nothing.
  void TakeRestOfLayer(std::size_t i) {
    if (parts_[i].kind != PartKind::kLayer) return;
    const auto is_module = [this, i](PartKind kind) {
      return std::any_of(
          parts_.begin(), parts_.end(), [this, i, kind](const ModelPart& part) {
            return part.kind == kind && part.layer == parts_[i].layer;
          });
    };
    const bool attention = is_module(PartKind::kAttention);
    const bool ffn = is_module(PartKind::kFfn);
    if (attention && ffn) {
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (attention || ffn) {
      parts_[i].kind = attention ? PartKind::kFfn : PartKind::kAttention;
    }
  }

  LoraOfPlan lora_;
  std::vector<ModelPart> parts_;
  std::vector<std::string> names_;
  int layers_ = 0;
  std::set<std::string> joined_;
};

// Returns an expression that finds the weights of these parts, which are of one
// kind, and no others.
std::string Expression(const ModelParts& parts, PartKind kind,
                       const std::vector<int>& layers) {
  switch (kind) {
    case PartKind::kEmbeddings:
      return absl::StrCat(kNoLayer, kOfEmbeddings);
    case PartKind::kPooler:
      return absl::StrCat(kNoLayer, kOfPooler);
    case PartKind::kLayer:
      return absl::StrCat(kStack, AnyOf(layers), R"(\.)");
    case PartKind::kAttention:
      return absl::StrCat(kStack, AnyOf(layers), R"(\.)", kOfAttention);
    case PartKind::kFfn:
      return absl::StrCat(kStack, AnyOf(layers), R"(\.(?!)", kOfAttention, ")");
    case PartKind::kHead:
      break;
  }
  std::string rest = kNoLayer;  // what is of no other module
  for (const auto& [other, expression] :
       {std::pair(PartKind::kEmbeddings, kOfEmbeddings),
        std::pair(PartKind::kPooler, kOfPooler)}) {
    if (parts.Has(other)) absl::StrAppend(&rest, "(?!", expression, ")");
  }
  if (parts.OfLastNorm()) absl::StrAppend(&rest, "(?!", kOfLastNorm, ")");
  return rest;
}

struct RatedExpression {
  std::string expression;
  double rate = 0.0;
};

// Returns one expression for each kind and rate, in the order of the modules.
std::vector<RatedExpression> Expressions(const ModelParts& parts) {
  std::vector<std::pair<PartKind, double>> order;
  std::map<std::pair<PartKind, double>, std::vector<int>> layers;
  for (const ModelPart& part : parts.all()) {
    const std::pair key(part.kind, part.rate);
    if (layers.find(key) == layers.end()) order.push_back(key);
    layers[key].push_back(part.layer);
  }
  std::vector<RatedExpression> found;
  found.reserve(order.size() + 1);
  for (const auto& key : order) {
    found.push_back({Expression(parts, key.first, layers[key]), key.second});
  }
  if (const auto last = parts.OfLastNorm()) {
    found.push_back(
        {absl::StrCat(kNoLayer, kOfLastNorm), parts.all()[*last].rate});
  }
  return found;
}

// --- what several tools cannot say ---

std::string OneRate(const ModelParts& parts, const std::string& tool) {
  const std::vector<std::string> unusual = parts.Unusual();
  if (unusual.empty()) return "";
  return absl::StrCat(tool, " has one rate for all, ",
                      RateText(parts.UsualRate()), "; the plan trains ",
                      ListOf(unusual));
}

std::string Ties(const ModelParts& parts) {
  if (parts.Trains(PartKind::kEmbeddings) == parts.Trains(PartKind::kHead))
    return "";
  return "where a model ties its head to its embeddings both are one weight, "
         "which trains if one of them does";
}

std::string StandInAdapters(const ModelParts& parts) {
  if (parts.has_adapters()) return "";
  return "the study trained the layers themselves: adapters of rank 8 stand in "
         "for that, and want a rate of their own, often ten times as large";
}

// What of a layer's names is of such a part, behind the layer's number.
std::string OfPart(PartKind kind) {
  constexpr char kAttention[] = R"(\w*(?:attn|attention)\w*\.)";
  if (kind == PartKind::kAttention) return absl::StrCat(kAttention, ".*");
  if (kind == PartKind::kFfn) return absl::StrCat("(?!", kAttention, ").*");
  return ".*";
}

std::string LayersOfKind(PartKind kind, const std::vector<int>& layers) {
  return absl::StrCat(R"((?:layers?|h|blocks?|resblocks)\.)", AnyOf(layers),
                      R"(\.)", OfPart(kind));
}

// Patterns of names for ranks other than the usual one, and what has none.
struct RankPatterns {
  std::string ranks;
  std::string alphas;
  std::string excluded;
};

RankPatterns PatternsOf(const ModelParts& parts) {
  std::map<std::pair<int, PartKind>, std::vector<int>> layers;
  const std::vector<int> adapted = parts.AdaptedLayers();
  for (const ModelPart& part : parts.all()) {
    if (!part.in_layer()) continue;
    const int rank = parts.IsAdapted(part) ? *part.rank : 0;
    const bool is_listed =
        std::find(adapted.begin(), adapted.end(), part.layer) != adapted.end();
    if (is_listed && rank != parts.lora().rank) {
      layers[{rank, part.kind}].push_back(part.layer);
    }
  }
  RankPatterns patterns;
  for (const auto& [key, of] : layers) {
    const auto& [rank, kind] = key;
    const std::string names = LayersOfKind(kind, of);
    if (rank == 0) {
      absl::StrAppend(&patterns.excluded, patterns.excluded.empty() ? "" : "|",
                      R"(.*\.)", names);
      continue;
    }
    absl::StrAppend(&patterns.ranks, "        r\"", names, "\": ", rank, ",\n");
    const double each = parts.lora().alpha_per_rank;
    if (each > 0.0) {
      absl::StrAppend(&patterns.alphas, "        r\"", names,
                      "\": ", RateText(each * rank), ",\n");
    }
  }
  return patterns;
}

std::string FrozenEmbeddings(const ModelParts& parts) {
  if (!parts.Trains(PartKind::kEmbeddings)) return "";
  return "the embeddings train in the plan and stay frozen here; name them in "
         "modules_to_save to train them";
}

// What models call a map of a layer.
struct NamesOfMap {
  std::string decoder;              // Llama, Phi
  std::vector<std::string> others;  // BERT, DistilBERT, DeBERTa, ModernBERT
};

// Returns the names. REQUIRES: the map is one of our words.
const NamesOfMap& NamesForMap(const std::string& map) {
  static const std::map<std::string, NamesOfMap> kNames = {
      {"query", {"q_proj", {"query", "q_lin", "query_proj"}}},
      {"key", {"k_proj", {"key", "k_lin", "key_proj"}}},
      {"value", {"v_proj", {"value", "v_lin", "value_proj"}}},
      {"qkv", {"qkv_proj", {"Wqkv", "qkv"}}},
      {"attention_out",
       {"o_proj", {"attention.output.dense", "out_lin", "attn.Wo"}}},
      {"ffn_in", {"up_proj", {"intermediate.dense", "lin1", "mlp.Wi"}}},
      {"ffn_out", {"down_proj", {"output.dense", "lin2", "mlp.Wo"}}},
      {"ffn_gate", {"gate_proj", {}}},
  };
  return kNames.at(map);
}

// The maps' names in decoders.
std::vector<std::string> DecoderMaps(const LoraOfPlan& lora) {
  std::vector<std::string> names;
  names.reserve(lora.maps.size());
  for (const std::string& map : lora.maps)
    names.push_back(NamesForMap(map).decoder);
  if (names.empty()) names = {"q_proj", "v_proj"};
  return names;
}

int RankOf(const ModelParts& parts) {
  return parts.has_adapters() ? parts.lora().rank : 8;
}

double AlphaOf(const ModelParts& parts) {
  return parts.has_adapters() ? parts.lora().alpha : 8.0;
}

// "[3, 4]".
std::string PythonList(const std::vector<int>& numbers) {
  return absl::StrCat("[", Numbers(numbers, ", "), "]");
}

// `["query", "q_proj"]`; JSON and YAML read it as well.
std::string PythonList(const std::vector<std::string>& words) {
  return absl::StrCat("[\"", absl::StrJoin(words, "\", \""), "\"]");
}

// --- the tools ---

struct SaidForTool {
  std::string text;
  std::vector<std::string> cannot_say;  // empty ones are left out
};

constexpr char kTorchGroups[] =
    R"py(RATES = {  # 0 freezes
%s}


def module_of(name):
    """The module of the plan that the weight is of."""
    layer = re.search(r"(?:^|\.)(?:layers?|h|blocks?|resblocks)\.(\d+)\.(.*)", name)
    if layer:%s
        return f"layer.{layer[1]}"
    if re.match(r"%s", name):
        return "embeddings"
    if re.match(r"%s", name) and "pooler" in RATES:
        return "pooler"%s
    return "head"


def parameter_groups(model):
    """Freezes what the plan freezes; returns the rest, for an optimizer."""
    groups = {}
    for name, weight in model.named_parameters():
        rate = RATES[module_of(name)]
        if rate == 0:
            weight.requires_grad_(False)
        elif weight.requires_grad:
            groups.setdefault(rate, []).append(weight)
    return [{"params": weights, "lr": rate} for rate, weights in groups.items()]
)py";

// A layer of which the plan names the parts.
constexpr char kTorchPart[] = R"py(
        part = "attention" if re.match(r"%s", layer[2]) else "ffn"
        if f"layer.{layer[1]}.{part}" in RATES:
            return f"layer.{layer[1]}.{part}")py";

constexpr char kTorchLastNorm[] = R"py(
    if re.match(r"%s", name):  # the norm behind the last layer
        return "%s")py";

std::string TorchGroups(const ModelParts& parts) {
  std::string rows;
  for (std::size_t i = 0; i < parts.all().size(); ++i) {
    absl::StrAppend(&rows, "    \"", parts.names()[i],
                    "\": ", RateText(parts.all()[i].rate), ",\n");
  }
  const bool has_parts =
      parts.Has(PartKind::kAttention) || parts.Has(PartKind::kFfn);
  const auto last = parts.OfLastNorm();
  return absl::StrFormat(
      kTorchGroups, rows,
      has_parts ? absl::StrFormat(kTorchPart, kOfAttention) : "", kOfEmbeddings,
      kOfPooler,
      last ? absl::StrFormat(kTorchLastNorm, kOfLastNorm, parts.names()[*last])
           : "");
}

std::string AdaptersFirst(const ModelParts& parts) {
  return parts.has_adapters() ? "the adapters themselves: `frostline plan … "
                                "--for peft` makes them, before these lines"
                              : "";
}

SaidForTool ForTorch(const ModelParts& parts) {
  return {absl::StrCat("import re\n\nimport torch\n\n", TorchGroups(parts),
                       "\n\noptimizer = "
                       "torch.optim.AdamW(parameter_groups(model))\n"),
          {AdaptersFirst(parts)}};
}

SaidForTool ForTrainer(const ModelParts& parts) {
  return {absl::StrCat(
              "import re\n\nimport torch\nfrom transformers import Trainer\n\n",
              TorchGroups(parts),
              "\n\noptimizer = torch.optim.AdamW(parameter_groups(model))\n"
              "trainer = Trainer(model=model, args=args, train_dataset=train,\n"
              "                  optimizers=(optimizer, None))  # its schedule "
              "stays the Trainer's\n"),
          {AdaptersFirst(parts)}};
}

SaidForTool ForTimm(const ModelParts& parts) {
  return {absl::StrCat(
              "import re\n\nfrom timm.optim import create_optimizer_v2\n\n",
              TorchGroups(parts), "\n\n",
              "optimizer = create_optimizer_v2(parameter_groups(model), "
              "opt=\"adamw\", lr=",
              RateText(parts.UsualRate()), ")\n"),
          {"train.py of timm has one --lr and a --layer-decay: these lines "
           "stand where it makes its optimizer",
           AdaptersFirst(parts)}};
}

// What a layer's module is called in decoders, for settings that are no regular
// expressions: "layers.3.", or the beginnings of its parts.
std::vector<std::string> DecoderNames(const ModelPart& part) {
  const std::string layer = absl::StrCat("layers.", part.layer, ".");
  switch (part.kind) {
    case PartKind::kEmbeddings:
      return {"embed_tokens."};
    case PartKind::kLayer:
      return {layer};
    case PartKind::kAttention:
      return {layer + "self_attn.", layer + "input_layernorm."};
    case PartKind::kFfn:
      return {layer + "mlp.", layer + "post_attention_layernorm."};
    case PartKind::kPooler:
      return {};
    case PartKind::kHead:
      return {"lm_head.", "score."};
  }
  return {};
}

std::string AxolotlAdapters(const ModelParts& parts) {
  return absl::StrCat(
      "adapter: lora\nlora_r: ", parts.lora().rank,
      "\nlora_alpha: ", RateText(parts.lora().alpha),
      "\nlora_dropout: ", RateText(parts.lora().dropout),
      "\nlora_target_modules: ", PythonList(DecoderMaps(parts.lora())),
      "\npeft_layers_to_transform: ", PythonList(parts.TrainedLayers()), "\n",
      parts.Trains(PartKind::kHead) ? "lora_modules_to_save: [\"lm_head\"]\n"
                                    : "");
}

// Patterns begin at a name's beginning, and a period is one (its
// utils/freeze.py); groups go by a part of a name, and norms and biases are in
// none (its core/trainers/mixins/optimizer.py).
SaidForTool ForAxolotl(const ModelParts& parts) {
  SaidForTool said;
  const double usual = parts.UsualRate();
  std::string trained;
  std::string groups;
  const auto last = parts.OfLastNorm();
  if (last && parts.all()[*last].trains()) trained = "  - 'model.norm.'\n";
  for (const ModelPart& part : parts.all()) {
    if (!part.trains()) continue;
    const std::vector<std::string> names = DecoderNames(part);
    for (const std::string& name : names) {
      const bool is_below =
          part.in_layer() || part.kind == PartKind::kEmbeddings;
      absl::StrAppend(&trained, "  - '", is_below ? ".+" : "", name, "'\n");
    }
    if (part.rate == usual || !part.in_layer()) continue;
    absl::StrAppend(
        &groups, "  - {name: ", part.kind == PartKind::kFfn ? "ffn" : "layer",
        part.layer, ", modules: ", PythonList(names),
        ", lr: ", RateText(part.rate), "}\n");
  }
  const bool all =
      std::all_of(parts.all().begin(), parts.all().end(),
                  [](const ModelPart& part) { return part.trains(); });
  said.text = absl::StrCat("learning_rate: ", RateText(usual), "\n");
  if (parts.has_adapters()) {
    absl::StrAppend(&said.text, AxolotlAdapters(parts));
  } else if (!all) {
    absl::StrAppend(&said.text, "unfrozen_parameters:\n", trained);
  }
  for (const ModelPart& part : parts.all()) {
    if (part.kind == PartKind::kEmbeddings && part.trains() &&
        part.rate != usual) {
      absl::StrAppend(&said.text, "embedding_lr: ", RateText(part.rate), "\n");
      said.cannot_say.push_back("embedding_lr is the rate of lm_head too");
    }
    if (part.kind == PartKind::kHead && part.trains() && part.rate != usual) {
      said.cannot_say.push_back(absl::StrCat(
          "the head has no rate of its own; the plan trains it at ",
          RateText(part.rate)));
    }
  }
  if (!groups.empty()) {
    absl::StrAppend(&said.text, "lr_groups:\n", groups);
    said.cannot_say.push_back(
        "lr_groups leave norms and biases at learning_rate");
  }
  said.cannot_say.push_back(Ties(parts));
  return said;
}

// The last or the first layers, negative for these, that hold all that train.
int EndOfLayers(const std::vector<int>& trained, int layers) {
  if (trained.empty()) return 0;
  const int last = layers - trained.front();
  const int first = trained.back() + 1;
  return last <= first ? last : -first;
}

// Names of a layer's parts that train, "all", or "" where layers differ.
std::string TrainedParts(const ModelParts& parts) {
  std::map<int, std::string> of;
  for (const ModelPart& part : parts.all()) {
    if (!part.in_layer() || !part.trains()) continue;
    std::string& text = of[part.layer];
    absl::StrAppend(&text, part.kind == PartKind::kLayer || !text.empty()
                               ? "all"
                           : part.kind == PartKind::kAttention
                               ? "self_attn,input_layernorm"
                               : "mlp,post_attention_layernorm");
    if (absl::EndsWith(text, "all")) text = "all";
  }
  std::set<std::string> found;
  for (const auto& [layer, text] : of) found.insert(text);
  if (found.empty()) return "all";
  return found.size() == 1 ? *found.begin() : "";
}

// It trains the last n or the first n layers (its model/adapter.py).
SaidForTool ForLlamaFactory(const ModelParts& parts) {
  SaidForTool said;
  const std::vector<int> trained = parts.TrainedLayers();
  if (parts.has_adapters()) {
    said.text = absl::StrCat(
        "finetuning_type: lora\nlora_rank: ", parts.lora().rank,
        "\nlora_alpha: ", RateText(parts.lora().alpha),
        "\nlora_dropout: ", RateText(parts.lora().dropout),
        "\nlora_target: ", absl::StrJoin(DecoderMaps(parts.lora()), ","), "\n");
    if (trained.size() < static_cast<std::size_t>(parts.layers())) {
      said.cannot_say.push_back(
          absl::StrCat("LLaMA-Factory puts adapters into every layer; the plan "
                       "has them in ",
                       Numbers(trained, ", ")));
    }
  } else {
    const int end = EndOfLayers(trained, parts.layers());
    const std::string of_layers = TrainedParts(parts);
    std::vector<std::string> extra;
    if (parts.Trains(PartKind::kEmbeddings)) extra.push_back("embed_tokens");
    if (parts.Trains(PartKind::kHead)) extra.push_back("lm_head");
    said.text = absl::StrCat(
        "finetuning_type: freeze\nfreeze_trainable_layers: ", end,
        "\nfreeze_trainable_modules: ", of_layers.empty() ? "all" : of_layers,
        "\n");
    if (!extra.empty()) {
      absl::StrAppend(&said.text,
                      "freeze_extra_modules: ", absl::StrJoin(extra, ","),
                      "\n");
    }
    if (static_cast<std::size_t>(std::abs(end)) != trained.size()) {
      said.cannot_say.push_back(absl::StrCat(
          "LLaMA-Factory trains the last or the first n layers: the ",
          end > 0 ? "last " : "first ", std::abs(end),
          " hold all that train, where the plan trains ",
          Numbers(trained, ", ")));
    }
    if (of_layers.empty()) {
      said.cannot_say.push_back(
          "LLaMA-Factory trains the same parts of every layer: all of them");
    }
    const auto last = parts.OfLastNorm();
    if (last && parts.all()[*last].trains()) {
      said.cannot_say.push_back(
          "the norm behind the last layer trains in the plan and stays frozen "
          "here");
    }
    if (parts.Trains(PartKind::kHead)) {
      said.cannot_say.push_back(
          "take lm_head out where the model ties it to embed_tokens");
    }
  }
  absl::StrAppend(&said.text, "learning_rate: ", RateText(parts.UsualRate()),
                  "\n");
  said.cannot_say.push_back(OneRate(parts, "LLaMA-Factory"));
  return said;
}

// It takes one expression, searched for in each name
// (its utils/transformers_utils.py).
SaidForTool ForSwift(const ModelParts& parts) {
  SaidForTool said;
  if (parts.has_adapters()) {
    said.text = absl::StrCat(
        "tuner_type: lora\nlora_rank: ", parts.lora().rank,
        "\nlora_alpha: ", RateText(parts.lora().alpha),
        "\nlora_dropout: ", RateText(parts.lora().dropout),
        "\ntarget_regex: '.*\\.layers\\.", AnyOf(parts.TrainedLayers()),
        "\\..*\\.(?:", absl::StrJoin(DecoderMaps(parts.lora()), "|"), ")'\n");
    if (parts.Trains(PartKind::kHead)) {
      absl::StrAppend(&said.text, "modules_to_save: [\"lm_head\"]\n");
    }
  } else {
    std::vector<std::string> frozen;
    for (const RatedExpression& one : Expressions(parts)) {
      if (one.rate == 0.0) frozen.push_back(one.expression);
    }
    said.text = "tuner_type: full\n";
    if (!frozen.empty()) {
      absl::StrAppend(&said.text, "freeze_parameters_regex: '",
                      absl::StrJoin(frozen, "|"), "'\n");
    }
  }
  absl::StrAppend(&said.text, "learning_rate: ", RateText(parts.UsualRate()),
                  "\n");
  said.cannot_say = {OneRate(parts, "ms-swift"), Ties(parts)};
  return said;
}

// The names of every family, since peft takes those that a model has.
std::string PeftTargets(const LoraOfPlan& lora) {
  std::vector<std::string> names;
  for (const std::string& map : lora.maps) {
    const NamesOfMap& all = NamesForMap(map);
    names.insert(names.end(), all.others.begin(), all.others.end());
    names.push_back(all.decoder);
  }
  return names.empty() ? ""
                       : absl::StrCat("    target_modules=", PythonList(names),
                                      ",  # those that the model has\n");
}

// peft goes by the ends of names, and BERT's `attention.output.dense` ends like
// the `output.dense` of its feed-forward part.
std::string PeftExcluded(const LoraOfPlan& lora, std::string excluded) {
  const auto has = [&lora](const char* map) {
    return std::find(lora.maps.begin(), lora.maps.end(), map) !=
           lora.maps.end();
  };
  if (has("ffn_out") && !has("attention_out")) {
    absl::StrAppend(&excluded, excluded.empty() ? "" : "|",
                    R"(.*\.attention\.output\.dense)");
  }
  return excluded.empty()
             ? ""
             : absl::StrCat("    exclude_modules=r\"", excluded, "\",\n");
}

// What families call their stack of layers.
const std::vector<std::string>& PeftStacks() {
  static const std::vector<std::string> kStacks = {"layer", "layers", "h",
                                                   "blocks"};
  return kStacks;
}

// Names by which peft finds a layer that trains whole, and the norm behind the
// last one.
std::vector<std::string> PeftWholeLayer(const ModelParts& parts,
                                        std::size_t i) {
  std::vector<std::string> names;
  for (const std::string& stack : PeftStacks()) {
    names.push_back(absl::StrCat(stack, ".", parts.all()[i].layer));
  }
  if (parts.OfLastNorm() == i) {
    names.insert(names.end(), {"model.norm", "final_norm"});
  }
  return names;
}

SaidForTool ForPeft(const ModelParts& parts) {
  SaidForTool said;
  std::vector<std::string> saved;
  if (parts.Trains(PartKind::kHead)) saved = {"classifier", "score", "head"};
  if (parts.Trains(PartKind::kPooler)) saved.emplace_back("pooler");
  std::vector<std::string> halves;
  for (const std::size_t i : parts.WholeParts()) {
    const ModelPart& part = parts.all()[i];
    if (part.kind != PartKind::kLayer) {
      halves.push_back(parts.names()[i]);
      continue;
    }
    const std::vector<std::string> whole = PeftWholeLayer(parts, i);
    saved.insert(saved.end(), whole.begin(), whole.end());
  }
  const RankPatterns patterns =
      parts.has_ranks() ? PatternsOf(parts) : RankPatterns{};
  const auto dictionary = [](const char* name, const std::string& rows) {
    return rows.empty() ? ""
                        : absl::StrCat("    ", name, "={\n", rows, "    },\n");
  };
  said.text = absl::StrCat(
      "from peft import LoraConfig, get_peft_model\n\nconfig = LoraConfig(\n"
      "    r=",
      RankOf(parts), ",\n    lora_alpha=", RateText(AlphaOf(parts)),
      ",\n    lora_dropout=", RateText(parts.lora().dropout),
      ",\n    layers_to_transform=", PythonList(parts.AdaptedLayers()),
      ",\n    layers_pattern=", PythonList(PeftStacks()), ",\n",
      dictionary("rank_pattern", patterns.ranks),
      dictionary("alpha_pattern", patterns.alphas),
      PeftExcluded(parts.lora(), patterns.excluded), PeftTargets(parts.lora()),
      saved.empty()
          ? ""
          : absl::StrCat("    modules_to_save=", PythonList(saved), ",\n"),
      ")\nmodel = get_peft_model(model, config)\n");
  const std::vector<std::string> unusual = parts.Unusual();
  if (!unusual.empty()) {
    said.cannot_say.push_back(absl::StrCat(
        "rates: the plan trains ", ListOf(unusual), " and the rest at ",
        RateText(parts.UsualRate()),
        "; `frostline plan … --for torch` writes them for the optimizer"));
  }
  if (!halves.empty()) {
    said.cannot_say.push_back(absl::StrCat(
        ListOf(halves), " trains whole in the plan and stays frozen here"));
  }
  said.cannot_say.push_back(FrozenEmbeddings(parts));
  said.cannot_say.push_back(Ties(parts));
  said.cannot_say.push_back(StandInAdapters(parts));
  return said;
}

SaidForTool ForUnsloth(const ModelParts& parts) {
  SaidForTool said;
  said.text = absl::StrCat(
      "from unsloth import FastLanguageModel\n\n"
      "model = FastLanguageModel.get_peft_model(\n    model,\n    r=",
      RankOf(parts), ",\n    lora_alpha=", RateText(AlphaOf(parts)),
      ",\n    lora_dropout=", RateText(parts.lora().dropout),
      ",\n    layers_to_transform=", PythonList(parts.TrainedLayers()),
      ",\n    target_modules=", PythonList(DecoderMaps(parts.lora())), ",\n",
      parts.Trains(PartKind::kHead) ? "    modules_to_save=[\"lm_head\"],\n"
                                    : "",
      ")\n");
  said.cannot_say = {OneRate(parts, "unsloth"), FrozenEmbeddings(parts),
                     StandInAdapters(parts)};
  return said;
}

struct PlanTool {
  const char* name;
  SaidForTool (*say)(const ModelParts& parts);
  bool only_adapts = false;  // it trains adapters, and no layer itself
  bool one_rank = false;     // for all layers that it adapts
};

// A tool takes an empty list of what trains for all there is.
absl::Status CheckSomethingTrains(const PlanTool& tool,
                                  const ModelParts& parts) {
  const bool adapts = tool.only_adapts || parts.has_adapters();
  if (parts.UsualRate() > 0.0 && !(adapts && parts.AdaptedLayers().empty())) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kRequestInvalid,
                   adapts
                       ? "the plan trains no layer, so that there is nothing "
                         "to adapt"
                       : "the plan trains nothing",
                   adapts ? "take torch: it freezes the layers and trains the "
                            "rest"
                          : "see what `frostline plan` advises",
                   "for_tool");
}

// What a tool has no word for at all is no plan in its words.
absl::Status CheckRanks(const PlanTool& tool, const ModelParts& parts) {
  const std::vector<std::string> apart = parts.RanksApart();
  if (!tool.one_rank || apart.empty() || !parts.has_adapters()) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(tool.name, " has adapters of one rank, ", parts.lora().rank,
                   " here, and the plan trains ", ListOf(apart)),
      "take peft, whose rank_pattern says each rank, or torch after it",
      "for_tool");
}

constexpr std::array<PlanTool, 8> kTools = {
    {{"axolotl", ForAxolotl, false, true},
     {"llama-factory", ForLlamaFactory, false, true},
     {"ms-swift", ForSwift, false, true},
     {"peft", ForPeft, true},
     {"timm", ForTimm},
     {"torch", ForTorch},
     {"hf-trainer", ForTrainer},
     {"unsloth", ForUnsloth, true, true}}};

}  // namespace

std::vector<std::string> ToolsForPlans() {
  std::vector<std::string> names;
  names.reserve(kTools.size());
  for (const PlanTool& tool : kTools) names.emplace_back(tool.name);
  return names;
}

absl::StatusOr<PlanInTool> SayPlanFor(const std::string& tool,
                                      const PlanToSay& plan) {
  const auto* const found =
      std::find_if(kTools.begin(), kTools.end(),
                   [&tool](const PlanTool& one) { return tool == one.name; });
  if (found == kTools.end()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("no plan is written for '", tool, "'"),
                     absl::StrCat("take one of ", ListOf(ToolsForPlans())),
                     "for_tool");
  }
  const ModelParts parts(plan);
  RETURN_IF_ERROR(CheckSomethingTrains(*found, parts));
  RETURN_IF_ERROR(CheckRanks(*found, parts));
  SaidForTool said = found->say(parts);
  if (!parts.joined().empty()) {
    said.cannot_say.push_back(absl::StrCat(
        absl::StrJoin(parts.joined(), ", "),
        ": the plan has several heads there with rates of their own, of which "
        "the largest is taken for all"));
  }
  PlanInTool words;
  words.tool = tool;
  for (std::string& one : said.cannot_say) {
    if (!one.empty()) words.cannot_say.push_back(std::move(one));
  }
  words.text =
      absl::StrCat("# The plan of study ", plan.study, ", for ", tool, ".\n");
  for (const std::string& one : words.cannot_say) {
    absl::StrAppend(&words.text, "# Note: ", one, ".\n");
  }
  absl::StrAppend(&words.text, said.text);
  return words;
}

}  // namespace frostline::importance
