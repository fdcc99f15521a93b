// A look, a pause, another look: alarm thread and reader threads in turn.
#include "ingress/http/row_watch.hpp"

#include <algorithm>

namespace onceward::ingress {

namespace {

constexpr std::int64_t first_pause_ms = 20;
constexpr std::int64_t pause_ms_max = 250;

/// One watch on its way between the reader threads and the alarm.
struct Looking {
  Services& services;
  Watch watch;
  WatchDone done;
  std::int64_t pause_ms = first_pause_ms;
};

void look_again(std::shared_ptr<Looking> looking);

void looked(std::shared_ptr<Looking> looking, Result<RowLook> look) {
  const bool goes_on = look.has_value() && look->row && !look->is_settled();
  const std::int64_t now_ms = looking->services.now().boottime_ms;
  if (goes_on && now_ms < looking->watch.until_boottime_ms) {
    const auto at = std::min(now_ms + looking->pause_ms, looking->watch.until_boottime_ms);
    looking->pause_ms = std::min(looking->pause_ms * 3 / 2, pause_ms_max);
    if (looking->services.alarms.set(at, [looking] { look_again(looking); })) return;
  }
  looking->done(std::move(look));
}

// The alarm and the reader thread pass the one Looking on; it is shared because their callbacks
// must be copyable.
void look_again(std::shared_ptr<Looking> looking) {
  const bool posted = looking->services.pool.post([looking](journal::JournalReader& reader) {
    looked(looking, look_at(reader, looking->watch.key));
  });
  if (!posted) looking->done(fail(ErrorCode::busy, "too many reads are waiting; ask again"));
}

}  // namespace

bool RowLook::is_settled() const {
  return quarantined.has_value() ||
         (row.has_value() && status_row(row->status).settled == Settled::yes);
}

Result<RowLook> look_at(journal::JournalReader& reader, const ObligationKey& key) {
  RowLook look;
  auto row = reader.row(key);
  if (!row) return Unexpected{std::move(row).error()};
  look.row = std::move(*row);
  auto quarantined = reader.quarantined();
  if (!quarantined) return Unexpected{std::move(quarantined).error()};
  // Only what was charged has refunds.
  if (look.row && look.row->status == ObligationStatus::completed) {
    auto refunds = reader.refunds_of(key.customer);
    if (!refunds) return Unexpected{std::move(refunds).error()};
    for (auto& refund : *refunds) {
      if (refund.obligation == key) look.refunds.push_back(std::move(refund));
    }
  }
  const auto id = customer_persistence_id(key.customer);
  for (auto& entry : *quarantined) {
    if (entry.persistence_id == id) look.quarantined = std::move(entry);
  }
  return look;
}

void watch_row(Services& services, const Watch& watch, WatchDone done) {
  look_again(std::make_shared<Looking>(Looking{services, watch, std::move(done)}));
}

}  // namespace onceward::ingress
