// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/model_shelf.h"

#include <algorithm>

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

std::string HeadKey(const HeadSpec& head) {
  std::string key = head.name;
  for (const double number :
       {static_cast<double>(head.task), static_cast<double>(head.outputs),
        static_cast<double>(head.kind), static_cast<double>(head.pooling),
        head.scale, head.reads_apart ? 1.0 : 0.0,
        static_cast<double>(head.hidden), head.dropout.value_or(-1.0)}) {
    key += "/" + std::to_string(number);
  }
  return key;
}

std::string HeadsKey(const Heads& heads) {
  std::string key;
  for (const HeadSpec& head : heads) key += "/" + HeadKey(head);
  return key;
}

// Of what the file has that no head takes: what is of use to none of them.
void AddReport(const LoadReport& more, LoadReport& all) {
  const auto add = [](const std::vector<std::string>& from,
                      std::vector<std::string>& into) {
    for (const std::string& name : from) {
      if (std::ranges::find(into, name) == into.end()) into.push_back(name);
    }
  };
  const auto keep = [](const std::vector<std::string>& common,
                       std::vector<std::string>& of) {
    std::erase_if(of, [&](const std::string& name) {
      return std::ranges::find(common, name) == common.end();
    });
  };
  add(more.missing, all.missing);
  add(more.reshaped, all.reshaped);
  add(more.initialized, all.initialized);
  keep(more.unused, all.unused);
  keep(more.unexpected, all.unexpected);
}

// The first names of a list, for one line of log.
std::string Some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > 8) {
    text += " and " + std::to_string(names.size() - 8) + " more";
  }
  return text;
}

void Describe(const std::string& id, const LoadReport& report,
              std::vector<std::string>& log) {
  const auto tell = [&](const char* what,
                        const std::vector<std::string>& names) {
    if (!names.empty()) log.push_back(id + ": " + what + ": " + Some(names));
  };
  tell("not in the file", report.missing);
  tell("of another shape in the file", report.reshaped);
  tell("drawn anew for each trial", report.initialized);
  tell("in the file and of no use here", report.unused);
  tell("in the file and not known", report.unexpected);
}

// All that the index names, and nothing that would be taken before it.
Expected<Done> VerifyShards(VerifiedFiles& files, const ModelEntry& entry,
                            InputFile& index, const StopSign& stop) {
  const auto mismatch = [&](const std::string& what) {
    return Fault{FaultKind::kInconsistent, "models.yaml: " + entry.id + what,
                 "list the files of the index under shards, each with its "
                 "sum, and keep no model.safetensors beside them"};
  };
  if (files.OpenUnverified(entry.path + "/model.safetensors").ok()) {
    return mismatch(" has an index and a model.safetensors");
  }
  Expected<std::string> bytes = index.ReadAll(kMaxHeaderBytes);
  if (!bytes.ok()) return bytes.fault();
  Expected<Json> json = Json::Parse(bytes.value());
  if (!json.ok()) return json.fault();
  const JsonValue* map = json.value().root().Find("weight_map");
  for (const JsonValue* v = map == nullptr ? nullptr : map->first; v != nullptr;
       v = v->next) {
    if (!entry.shards.contains(std::string(v->text))) {
      return mismatch(" lacks the sum of " + Shown(v->text));
    }
  }
  for (const auto& [name, sum] : entry.shards) {
    Expected<InputFile> shard = files.Open(entry.path + "/" + name, sum, stop);
    if (!shard.ok()) return shard.fault();
  }
  return Done{};
}

}  // namespace

Expected<ModelShelf> ModelShelf::Open(VerifiedFiles& files,
                                      const Device& device) {
  Expected<InputFile> file = files.OpenUnverified("models.yaml");
  if (!file.ok()) return file.fault();
  Expected<std::string> yaml = file.value().ReadAll(kMaxRegistryBytes);
  if (!yaml.ok()) return yaml.fault();
  Expected<ModelEntries> models = ParseModels(yaml.value(), "models.yaml");
  if (!models.ok()) return models.fault();
  return ModelShelf(std::move(models).value(), device);
}

Expected<std::string> ModelShelf::Verify(VerifiedFiles& files,
                                         const ModelEntry& entry,
                                         const ModelRequest& request,
                                         const StopSign& stop) {
  if (!request.sha256.empty() && request.sha256 != entry.sha256) {
    return Fault{FaultKind::kInconsistent,
                 "the study wants weights of the SHA-256 " + request.sha256 +
                     "; this worker's " + entry.id + " has " + entry.sha256,
                 "register the same weights on every worker"};
  }
  // Both must lie below the operator's folder, whatever links say.
  Expected<InputFile> weights =
      files.Open(entry.path + "/" + entry.weights, entry.sha256, stop);
  const std::string folder = files.root() + "/" + entry.path;
  if (!weights.ok()) {
    // Of pickles there is more to say than that the weights are not there.
    if (files.OpenUnverified(entry.path + "/pytorch_model.bin").ok()) {
      Expected<WeightFiles> found = WeightFiles::Open(folder);
      if (!found.ok()) return found.fault();
    }
    return weights.fault();
  }
  Expected<InputFile> config =
      files.OpenUnverified(entry.path + "/config.json");
  if (!config.ok()) return config.fault();
  if (!entry.shards.empty()) {
    Expected<Done> shards = VerifyShards(files, entry, weights.value(), stop);
    if (!shards.ok()) return shards.fault();
  }
  return folder;
}

Expected<Done> ModelShelf::Load(const std::string& id,
                                const std::string& folder, const Heads& heads,
                                const StopSign& stop, Parts& parts) {
  const auto in_folder = [&](Fault fault) {
    if (fault.cause.find(folder) == std::string::npos) {
      fault.cause = folder + ": " + fault.cause;
    }
    return fault;
  };
  Expected<ModelFolder> opened = ModelFolder::Open(folder);
  if (!opened.ok()) return in_folder(opened.fault());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (parts.heads[i] != nullptr) continue;
    Expected<LoadedHead> read = opened.value().ReadHead(heads[i], 0);
    if (!read.ok()) return in_folder(read.fault());
    Expected<Done> moved = CatchTorch([&]() -> Expected<Done> {
      read.value().head = read.value().head.To(device_->torch());
      return Done{};
    });
    if (!moved.ok()) return moved.fault();
    parts.heads[i] =
        heads_.Put(id + "/" + HeadKey(heads[i]), std::move(read).value());
  }
  if (parts.encoder == nullptr) {
    Expected<TransformerEncoder> read = opened.value().ReadEncoder(stop);
    if (!read.ok()) return in_folder(read.fault());
    return CatchTorch([&]() -> Expected<Done> {
      parts.encoder = encoders_.Put(id, {read.value().To(device_->torch()),
                                         opened.value().config_json()});
      return Done{};
    });
  }
  return Done{};
}

LoadedModel ModelShelf::Joined(const Parts& parts) {
  std::vector<ModelHead> heads;
  LoadReport report = parts.heads.front()->report;
  for (const auto& each : parts.heads) {
    heads.push_back(each->head);
    AddReport(each->report, report);
  }
  return {Model(parts.encoder->encoder, std::move(heads)), std::move(report),
          parts.encoder->config_json};
}

Expected<std::shared_ptr<const Pretrained>> ModelShelf::Weights(
    VerifiedFiles& files, const ModelRequest& request, const Heads& heads,
    const StopSign& stop, std::vector<std::string>& log) {
  const auto entry = models_.find(request.id);
  if (entry == models_.end()) {
    return Fault{FaultKind::kUnreadable,
                 "this worker's registry has no model " + Shown(request.id),
                 "add it to models.yaml on this worker, or let the study "
                 "require a label that only workers with it carry"};
  }
  Expected<std::string> folder = Verify(files, entry->second, request, stop);
  if (!folder.ok()) return folder.fault();
  const std::string key = request.id + HeadsKey(heads);
  Parts parts{encoders_.Find(request.id), {}};
  bool is_new = false;
  for (const HeadSpec& head : heads) {
    parts.heads.push_back(heads_.Find(request.id + "/" + HeadKey(head)));
    is_new = is_new || parts.heads.back() == nullptr;
  }
  auto known = joined_.Find(key);
  if (known == nullptr) {
    if (is_new || parts.encoder == nullptr) {
      Expected<Done> loaded =
          Load(request.id, folder.value(), heads, stop, parts);
      if (!loaded.ok()) return loaded.fault();
    }
    LoadedModel joined = Joined(parts);
    if (is_new) Describe(request.id, joined.report, log);
    known = joined_.Put(
        key, {std::move(joined), folder.value(), entry->second.sha256});
  }
  const std::int64_t layers = known->loaded.model.config().layers;
  if (request.layers != 0 && request.layers != layers) {
    return Fault{FaultKind::kInconsistent,
                 "the study says that " + request.id + " has " +
                     std::to_string(request.layers) + " layers; it has " +
                     std::to_string(layers),
                 "correct model.layers in the study"};
  }
  return known;
}

Expected<std::shared_ptr<const Tokenizer>> ModelShelf::TokenizerOf(
    const Pretrained& pretrained) {
  if (auto known = tokenizers_.Find(pretrained.folder)) return known;
  Expected<Tokenizer> made = LoadTokenizer(pretrained.folder);
  if (!made.ok()) return made.fault();
  const std::int64_t rows = pretrained.loaded.model.config().vocabulary;
  if (made.value().vocabulary_size() > rows) {
    return Fault{FaultKind::kInconsistent,
                 pretrained.folder + ": the tokenizer has " +
                     std::to_string(made.value().vocabulary_size()) +
                     " tokens and the model's table " + std::to_string(rows),
                 "take the tokenizer's files from the model's own folder"};
  }
  return tokenizers_.Put(pretrained.folder, std::move(made).value());
}

}  // namespace frostline::trainer
