// SPDX-License-Identifier: Apache-2.0
//
// File: qmc.h
//
// Trial n is point n of a Sobol' sequence (sobol.h), scrambled by the study's
// seed. Each parameter keeps its dimension where its condition is not met.
// Enqueued trials leave no hole (sequence_place.h).
#ifndef FROSTLINE_SAMPLER_DRAW_QMC_H_
#define FROSTLINE_SAMPLER_DRAW_QMC_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeQmcSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_QMC_H_
