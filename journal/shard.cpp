// Which shard an entity belongs to; part of the stored format, never changed.
#include <onceward/core/check.hpp>
#include <onceward/core/digest.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::journal {

ShardNr shard_of(const PersistenceId& id, std::uint32_t shards) {
  ONCEWARD_CHECK(shards > 0, "a store has at least one shard");
  if (shards == 1) return ShardNr{0};
  const Digest digest = sha256(id.value());
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < 4; ++at) number = number << 8U | digest.bytes[at];  // big-endian
  return ShardNr{number % shards};
}

}  // namespace onceward::journal
