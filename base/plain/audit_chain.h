// SPDX-License-Identifier: Apache-2.0
//
// File: audit_chain.h
//
// Each entry of the audit is a line of JSON that ends with a sum of itself and
// of the sum before, so that a line which is changed, missing or moved shows:
//
//   chain(n) = SHA-256(the 32 bytes of chain(n - 1), text(n));  chain(0) = 0
//   line(n)  = text(n) + `,"chain_sha256":"…"}`
//
//   {"sequence":1,…,"outcome":"OK"          text(1)
//   {"sequence":1,…,"outcome":"OK","chain_sha256":"4be1…"}
//
// An end that was cut off is seen in the database, which has the last entries.
// Whoever may write that, too, can write all of it anew: against that helps a
// sum that is kept elsewhere.
#ifndef FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_
#define FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frostline {

// The folder of the audit within the data folder, and the file that grows.
inline constexpr char kAuditFolder[] = "audit";
inline constexpr char kAuditFile[] = "audit.jsonl";

// Names a file that was full: "audit-000000000101.jsonl" begins with entry 101.
std::string AuditFileName(std::int64_t first_sequence);

// What stands before the first entry: 64 times "0".
std::string FirstChain();

// `previous` is what this or FirstChain() has returned, or ReadChainedLine()
// has found: anything else counts as FirstChain().
std::string NextChain(const std::string& previous, std::string_view text);

// Makes the line of an entry, without a newline.
std::string ChainedLine(std::string_view text, const std::string& chain);

struct ChainedText {
  std::string_view text;
  std::string_view chain;
};

// Takes ChainedLine() apart, and answers nothing for what is no such line. The
// result points into `line`.
std::optional<ChainedText> ReadChainedLine(std::string_view line);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_AUDIT_CHAIN_H_
