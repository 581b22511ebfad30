// SPDX-License-Identifier: Apache-2.0
#include "base/remote_file_system.h"

#include <utility>

namespace frostline {
namespace {

// The numbers are those of the kernel (linux/magic.h) and of file systems
// outside of it.
constexpr std::pair<std::uint64_t, const char*> kRemote[] = {
    {0x6969, "NFS"},
    {0x517b, "SMB"},
    {0xfe534d42, "SMB2"},
    {0xff534d42, "CIFS"},
    {0x0bd00bd0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x00c36400, "Ceph"},
    {0x65735546, "FUSE"},
    {0x5346414f, "AFS"},
    {0x6b414653, "AFS"},
    {0x73757245, "Coda"},
    {0x01021997, "9P"},
    {0x7461636f, "OCFS2"},
    {0x01161970, "GFS2"},
    {0xaad7aaea, "PanFS"},
    {0x786f4256, "a VirtualBox shared folder"},
};

}  // namespace

const char* RemoteFileSystem(std::uint64_t magic) {
  for (const auto& [number, name] : kRemote) {
    if (number == (magic & 0xffffffffu)) return name;  // some are negative
  }
  return nullptr;
}

}  // namespace frostline
