// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/libpq.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::storage {
namespace {

constexpr char kLibrary[] = "libpq.so.5";

absl::Status CannotUse(const std::string& why) {
  return MakeError(
      ErrorId::kStoreUnwritable,
      absl::StrCat("the client library of PostgreSQL, ", kLibrary, ", ", why),
      "install it, of PostgreSQL 14 or newer: Debian's package "
      "libpq5, RHEL's libpq");
}

absl::StatusOr<const Libpq*> Load() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CannotUse("is not on this machine");
  static Libpq functions;
  bool is_whole = true;
#define FROSTLINE_FIND_(name)                                                  \
  functions.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  is_whole = is_whole && functions.name != nullptr;
  FROSTLINE_LIBPQ_(FROSTLINE_FIND_)
#undef FROSTLINE_FIND_
  if (!is_whole) return CannotUse("is too old");
  return &functions;
}

}  // namespace

absl::StatusOr<const Libpq*> LoadLibpq() {
  static const auto* const loaded = new absl::StatusOr<const Libpq*>(Load());
  return *loaded;
}

}  // namespace frostline::storage
