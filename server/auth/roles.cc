// SPDX-License-Identifier: Apache-2.0
#include "server/auth/roles.h"

#include <array>
#include <utility>

namespace frostline::server {
namespace {

struct RoleRow {
  CallerRole role;
  const char* name;
  v1::Role wire;
};

constexpr std::array<RoleRow, 4> kRoles = {
    {{CallerRole::kViewer, "viewer", v1::ROLE_VIEWER},
     {CallerRole::kWorker, "worker", v1::ROLE_WORKER},
     {CallerRole::kResearcher, "researcher", v1::ROLE_RESEARCHER},
     {CallerRole::kAdmin, "admin", v1::ROLE_ADMIN}}};

}  // namespace

bool Allows(const CallerIdentity& caller, CallerRole row) {
  const CallerRole role = caller.role;
  if (role == CallerRole::kAnyone) return false;  // nobody has this role
  if (row == CallerRole::kAnyone || row == role) return true;
  if (row == CallerRole::kInvited) return false;
  if (row == CallerRole::kCertified) {
    return role == CallerRole::kWorker &&
           caller.proof == CallerProof::kCertificate;
  }
  if (role == CallerRole::kAdmin) return true;
  return role == CallerRole::kResearcher && row == CallerRole::kViewer;
}

const char* NameOfRole(CallerRole role) {
  if (role == CallerRole::kInvited) return "invited";
  if (role == CallerRole::kCertified) return "certified";
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.name;
  }
  return "anyone";
}

std::optional<CallerRole> RoleNamed(const std::string& name) {
  for (const RoleRow& row : kRoles) {
    if (row.name == name) return row.role;
  }
  return std::nullopt;
}

v1::Role RoleToProto(CallerRole role) {
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.wire;
  }
  return v1::ROLE_UNSPECIFIED;
}

std::optional<CallerRole> RoleFromProto(int role) {
  for (const RoleRow& row : kRoles) {
    if (row.wire == role) return row.role;
  }
  return std::nullopt;
}

}  // namespace frostline::server
