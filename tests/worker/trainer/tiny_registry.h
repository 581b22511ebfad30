// SPDX-License-Identifier: Apache-2.0
//
// File: tiny_registry.h
//
// A worker's registry with a tiny recorded model, `tiny`, and a data set of
// nonsense words, `words`: 24 texts to train and 10 to validate, two classes.
// Needs no LibTorch.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_TINY_REGISTRY_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_TINY_REGISTRY_H_

#include <string>

namespace frostline::trainer {

void WriteTinyRegistry(const std::string& folder);

// Instead a random decoder of two layers that reads bytes, `bytes`, and sets
// whose answer is the letter in the middle of three: `letters` (answers) and
// `picks` (choices), of 40 rows to train and 20 to validate. A prompt is
// "abc=".
void WriteDecoderRegistry(const std::string& folder);

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_TINY_REGISTRY_H_
