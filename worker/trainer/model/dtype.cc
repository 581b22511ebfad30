// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/dtype.h"

namespace frostline::trainer {
namespace {

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumeration.
constexpr DtypeRow kRows[] = {
    {Dtype::kF32, "F32", 4},   {Dtype::kF16, "F16", 2},
    {Dtype::kBF16, "BF16", 2}, {Dtype::kI64, "I64", 8},
    {Dtype::kI32, "I32", 4},   {Dtype::kU8, "U8", 1},
    {Dtype::kBool, "BOOL", 1},
};

const DtypeRow& RowOf(Dtype dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view NameOf(Dtype dtype) { return RowOf(dtype).name; }

std::size_t BytesOf(Dtype dtype) { return RowOf(dtype).bytes; }

std::optional<Dtype> DtypeOf(std::string_view name) {
  for (const DtypeRow& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace frostline::trainer
