// SPDX-License-Identifier: Apache-2.0
//
// File: answers.h
//
// What a decoder says of the tokens of an answer. Of a token after others,
// read as h, and a table W with a row for each token of the vocabulary:
//
//   log p(token) = W[token] h - log sum over t of exp(W[t] h)
//
// All products of a batch at once would take gigabytes (16 texts of 256 tokens
// and 150,000 rows: 2.3 GiB). They are computed for some tokens at a time, and
// once more on the way back.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_ANSWERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_ANSWERS_H_

#include <cstdint>

#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Returns for each of P tokens, read as `read` [P, H], how likely the token
// `next` [P] is after it: [P, 2], log p and what it lacks to the likeliest
// token's, 0 where none is likelier. `table` is [V, H]. The first column has a
// gradient. Under autocast the products are of its type; all else is fp32.
// Throws what LibTorch throws.
at::Tensor LikelihoodOf(const at::Tensor& read, const at::Tensor& table,
                        const at::Tensor& next,
                        std::int64_t most_products = kMostLogits);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_ANSWERS_H_
