// SPDX-License-Identifier: Apache-2.0
#include "server/overview/host_facts.h"

#include "server/metrics/page.h"
#include "storage/factory.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

void WriteExpiry(const char* which, const std::string& path,
                 MetricsPage& page) {
  if (path.empty()) return;
  const auto pem = tls::ReadPublicFile(path, "");
  if (!pem.ok()) return;
  const auto facts = tls::ReadCertificate(*pem);
  if (!facts.ok()) return;
  page.Set("frostline_certificate_expiry_timestamp_seconds",
           static_cast<double>(facts->expires) / 1e6, {{"certificate", which}});
}

}  // namespace

void WriteHost(const HostFiles& files, const char* version, MetricsPage& page) {
  page.Set("frostline_build_info", 1.0, {{"version", version}});
  WriteProcess(page);
  WriteExpiry("coordinator", files.certificate, page);
  WriteExpiry("authority", files.authority, page);
  if (files.data_folder.empty()) return;
  const storage::StoreBytes bytes = storage::BytesIn(files.data_folder);
  page.Set("frostline_store_bytes", bytes.database, {{"file", "database"}});
  page.Set("frostline_store_bytes", bytes.log, {{"file", "wal"}});
}

void WriteSpans(const spans::SpanCounts& counts, MetricsPage& page) {
  page.Set("frostline_spans_total", counts.sent, {{"outcome", "sent"}});
  page.Set("frostline_spans_total", counts.dropped, {{"outcome", "dropped"}});
}

}  // namespace frostline::server
