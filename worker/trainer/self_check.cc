// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/self_check.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <torch/version.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace frostline {
namespace {

constexpr std::int64_t kRows = 48;
constexpr std::int64_t kInner = 32;
constexpr std::int64_t kColumns = 40;

// Small whole numbers: every product and sum is exact in float, so that any
// kernel, in any order of summation, must give the same answer.
std::int64_t LeftAt(std::int64_t row, std::int64_t k) { return row - 2 * k; }
std::int64_t RightAt(std::int64_t k, std::int64_t column) {
  return 3 * k - column;
}

template <typename At>
std::vector<float> Fill(std::int64_t rows, std::int64_t columns, At at) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      values.push_back(static_cast<float>(at(i, j)));
    }
  }
  return values;
}

float ProductAt(std::int64_t row, std::int64_t column) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < kInner; ++k) {
    sum += LeftAt(row, k) * RightAt(k, column);
  }
  return static_cast<float>(sum);
}

// Adds up what LibTorch computed; an entry that differs ends the check.
void Compare(const at::Tensor& product, SelfCheck& check) {
  const float* entry = product.const_data_ptr<float>();
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j, ++entry) {
      check.matmul_sum += *entry;
      if (*entry == ProductAt(i, j)) continue;
      std::ostringstream line;
      line << "matmul entry " << i << "," << j << " is " << *entry << ", not "
           << ProductAt(i, j);
      check.error = line.str();
      return;
    }
  }
  check.ok = true;
}

std::string OneLine(const char* what) {
  const std::string text = what;
  return text.substr(0, text.find('\n'));
}

// What JSON asks for and an error message can contain.
std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

}  // namespace

std::string TorchVersion() { return TORCH_VERSION; }

SelfCheck RunSelfCheck() {
  SelfCheck check;
  check.torch_version = TorchVersion();
  try {
    std::vector<float> left = Fill(kRows, kInner, LeftAt);
    std::vector<float> right = Fill(kInner, kColumns, RightAt);
    const at::Tensor a = at::from_blob(left.data(), {kRows, kInner});
    const at::Tensor b = at::from_blob(right.data(), {kInner, kColumns});
    Compare(at::matmul(a, b).contiguous(), check);  // [rows, columns]
  } catch (const std::exception& error) {
    check.error = OneLine(error.what());
  }
  return check;
}

std::string ToJson(const SelfCheck& check) {
  std::ostringstream json;
  json.precision(15);
  json << "{\"ok\": " << (check.ok ? "true" : "false")
       << ", \"torch\": " << Quote(check.torch_version)
       << ", \"matmul_sum\": " << check.matmul_sum;
  if (!check.ok) json << ", \"error\": " << Quote(check.error);
  json << "}";
  return json.str();
}

}  // namespace frostline
