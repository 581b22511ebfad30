// SPDX-License-Identifier: Apache-2.0
//
// File: parameter_lister.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_PARAMETER_LISTER_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_PARAMETER_LISTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {

// Writes down weights by name and shape, one behind the other.
class ParameterLister {
 public:
  // `specs` outlives it.
  explicit ParameterLister(std::vector<ParameterSpec>& specs)
      : specs_(&specs) {}

  // Those that follow are of this part.
  void At(Part part, std::int64_t layer);

  void Embedding(const std::string& name, std::int64_t rows,
                 std::int64_t width);
  void Norm(const std::string& name, std::int64_t width, bool bias = true);
  // Of kRows the bias is cut like the weight, of kColumns it is not.
  void Linear(const std::string& name, std::int64_t outputs,
              std::int64_t inputs, HeadAxis axis = HeadAxis::kNone,
              bool bias = true);
  // What is added to the linear map `name`.
  void Adapter(const std::string& name, std::int64_t outputs,
               std::int64_t inputs, std::int64_t rank);
  // What stands behind the linear map `name`, whose outputs are `width`.
  void Bottleneck(const std::string& name, std::int64_t width,
                  std::int64_t size);

 private:
  void Add(std::string name, std::vector<std::int64_t> shape, Role role);

  std::vector<ParameterSpec>* specs_;
  Part part_ = Part::kEmbeddings;
  std::int64_t layer_ = -1;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_PARAMETER_LISTER_H_
