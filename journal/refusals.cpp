// Words of the answers that do not depend on the backend.
#include "journal/refusals.hpp"

#include <string>

#include "journal/json_text.hpp"
#include "journal/unit_shape.hpp"

namespace onceward::journal {

Error absent_row_error(const CommitUnit& unit, const ObligationKey& key) {
  return {ErrorCode::invalid_argument, "unit of " + unit.persistence_id.value() +
                                           ": it updates the row " + to_display(key) +
                                           ", which was never claimed; nothing of it was stored"};
}

Unexpected no_such_shard(ShardNr shard, std::uint32_t shards) {
  return fail(ErrorCode::invalid_argument, "shard " + std::to_string(shard.value) +
                                               " does not exist: the store has " +
                                               std::to_string(shards));
}

std::optional<Error> quarantine_error(const PersistenceId& id, std::string_view reason) {
  if (!is_persistence_id(id.value())) {
    return Error{ErrorCode::invalid_argument,
                 "quarantine: the persistence id is not 1 to 255 visible ASCII characters"};
  }
  if (reason.size() > short_text_bytes_max || !is_stored_text(reason)) {
    return Error{ErrorCode::invalid_argument,
                 "quarantine of " + id.value() +
                     ": the reason is not UTF-8 without NUL of at most 4096 bytes"};
  }
  return std::nullopt;
}

}  // namespace onceward::journal
