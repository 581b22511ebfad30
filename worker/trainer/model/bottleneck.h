// SPDX-License-Identifier: Apache-2.0
//
// File: bottleneck.h
//
// Bottleneck adapters (Houlsby et al., 2019, figure 2): two in each layer, one
// behind the attention's last map, one behind the feed forward's, each before
// the sum with what the layer was given. Of h, after dropout, such an adapter
// makes h + U f(D h + d) + u. U and both biases begin at 0 and D near 0, so
// that training begins where the pretrained model is.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BOTTLENECK_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BOTTLENECK_H_

#include <cstdint>
#include <string>

#include "base/plain/result.h"

namespace frostline::trainer {

struct BottleneckSpec {
  std::int64_t size = 0;  // 0: no adapters
  bool relu = false;      // else GELU, exact

  bool any() const { return size > 0; }
};

// Of the adapter behind the linear map `linear`.
std::string DownNameOf(const std::string& linear);
std::string UpNameOf(const std::string& linear);

// Returns kMisuse for a bottleneck that is none.
Expected<Done> CheckBottleneck(const BottleneckSpec& spec, std::int64_t hidden);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BOTTLENECK_H_
