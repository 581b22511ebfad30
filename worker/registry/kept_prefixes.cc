// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/kept_prefixes.h"

#include <algorithm>

#include "worker/trainer/prefix/prefix_store.h"

namespace frostline::registry {

using trainer::PrefixStore;
using trainer::StoredGroup;

std::optional<std::vector<KeptPrefix>> ListPrefixes(const std::string& folder) {
  const std::optional<PrefixStore> store = PrefixStore::Find(folder);
  if (!store) return std::nullopt;
  std::vector<KeptPrefix> kept;
  for (const StoredGroup& group : store->List()) {
    const auto bytes = static_cast<double>(group.bytes);
    const double whole = group.worth.By(bytes) * bytes;
    kept.push_back({group.about, group.bytes, group.worth.taken,
                    std::max(0.0, whole - group.worth.seconds)});
  }
  return kept;
}

std::uint64_t ClearPrefixes(const std::string& folder) {
  const std::optional<PrefixStore> store = PrefixStore::Find(folder);
  return store ? store->Clear() : 0;
}

}  // namespace frostline::registry
