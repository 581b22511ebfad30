// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers against what the Rust tokenizers 0.23 recorded: ids, spans, word
// ids, types and labels of every record must be the same.
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/parity/parity.h"
#include "tests/worker/trainer/text/goldens.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

// What stands beside the recording; with a blank before each word where the
// recording's name says so.
trainer::Tokenizer TokenizerOf(const fs::path& recording) {
  const fs::path folder = recording.parent_path();
  const bool prefix =
      recording.filename().string().find("prefix_space") != std::string::npos;
  if (prefix) {
    const std::string vocab =
        trainer::ReadBytes((folder / "vocab.json").string());
    const std::string merges =
        trainer::ReadBytes((folder / "merges.txt").string());
    Expected<trainer::Tokenizer> made =
        trainer::ReadBpeFiles(vocab, merges, true);
    if (!made.ok()) throw std::runtime_error(made.fault().cause);
    return std::move(made).value();
  }
  const fs::path whole = folder / "tokenizer.json";
  return trainer::TokenizerOfFile(
      (fs::exists(whole) ? whole : folder / "vocab.txt").string());
}

void Check(const std::string& path, ParityResult& result) {
  const trainer::Tokenizer tokenizer = TokenizerOf(path);
  trainer::Encoder encoder(tokenizer);
  const trainer::GoldenCount count = trainer::CompareRecords(encoder, path);
  for (int i = count.different; i < count.compared; ++i) result.True("", true);
  if (count.different > 0) {
    result.Fail(std::to_string(count.different) + " of " +
                std::to_string(count.compared) +
                " records differ: " + count.what);
  }
}

const bool kTextRegistered = RegisterParity(
    "tokenizer", R"((.*/)?tokenizers/[^/]+/[^/]+\.jsonl)", Check);

}  // namespace
}  // namespace frostline::test
