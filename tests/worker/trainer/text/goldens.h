// SPDX-License-Identifier: Apache-2.0
//
// File: goldens.h
//
// Compares an encoder with what the Rust tokenizers gave for the same texts.
// Shared by the tests and by the parity runner.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_TEXT_GOLDENS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_TEXT_GOLDENS_H_

#include <string>

#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// How many records were compared; the first few that differ, in words.
struct GoldenCount {
  int compared = 0;
  int different = 0;
  std::string what;
};

// Returns the path of one of the repository's own recordings, as
// "bpe/tokenizer.json".
std::string OwnRecording(const std::string& name);
// Below $FROSTLINE_SHARED_DATA, which has data/ and fixtures/; empty when that
// is not set or lacks the file.
std::string SharedData(const std::string& name);

// Throws std::runtime_error when the file cannot be read.
std::string ReadBytes(const std::string& path);

// From vocab.txt (uncased BERT) or a tokenizer.json, by the name of the file.
// Throws std::runtime_error with the fault.
Tokenizer TokenizerOfFile(const std::string& path);

// One JSON object a line: a, b, max, words, labels, i, o, w, t0, y.
GoldenCount CompareRecords(Encoder& encoder, const std::string& jsonl);

// The 10,570 questions: the ids of each, and with `original`, `wordpiece` its
// text and its tokens.
GoldenCount CompareQuestions(const Tokenizer& tokenizer,
                             const std::string& tokens_json,
                             const std::string& ids_json);

// The cases of tokenizer_tests.json of one model.
GoldenCount CompareCases(Encoder& encoder, const std::string& json,
                         const std::string& model);

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_TEXT_GOLDENS_H_
