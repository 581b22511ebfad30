// SPDX-License-Identifier: Apache-2.0
//
// File: weight_files.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_WEIGHT_FILES_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_WEIGHT_FILES_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {

class WeightFiles {
 public:
  // Opens model.safetensors, or the shards of model.safetensors.index.json.
  // Returns kUnsupported for a folder of pickles, which run code when they are
  // loaded: the fix is the command that converts them.
  static Expected<WeightFiles> Open(const std::string& folder);

  struct Place {
    std::size_t file;
    const StoredTensor* tensor;
  };
  const std::map<std::string, Place>& places() const { return places_; }
  const Safetensors& file(const Place& place) const {
    return files_[place.file];
  }

 private:
  Expected<Done> Add(const std::string& path);

  std::vector<Safetensors> files_;
  std::map<std::string, Place> places_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_WEIGHT_FILES_H_
