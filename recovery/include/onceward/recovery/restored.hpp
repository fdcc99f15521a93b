// What a store that was restored does not know: the provider's charges compared with the fold of
// each customer, and what is missing recorded, so that no period is charged again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <onceward/core/external_call.hpp>
#include <onceward/journal/journal.hpp>

#include <onceward/recovery/verify.hpp>

namespace onceward::recovery {

struct RestoredReport {
  std::uint64_t ours = 0;      ///< objects of our namespace
  std::uint64_t known = 0;     ///< charges that the store has
  std::uint64_t recorded = 0;  ///< charges that it has now, or would have after recording
  std::vector<Difference> recordings;
  /// What keeps the store from billing: a payment that has not ended, a history that is damaged, an
  /// object that cannot be understood.
  std::vector<Difference> blocking;
  /// Money that a person must look at, but that cannot be taken again: two charges for one period.
  std::vector<Difference> twins;
};

struct RestoredOptions {
  Namespace ns;
  std::uint32_t shards = 256;
  WriterId writer;
  Timestamp now;
};

/// Compares payment intents or charges of the provider with the store. With a journal, each charge
/// that the store lacks is committed: the obligation is claimed if it is not there, and completed
/// with that charge and an alarm that says where it comes from. Without one, nothing is written.
/// Repeating it records nothing twice. The first failed commit ends it with its error; what was
/// recorded by then stays. Blocks on disk.
[[nodiscard]] Result<RestoredReport> compare_restored(journal::JournalReader& reader,
                                                      journal::Journal* journal,
                                                      std::span<const ProviderObject> objects,
                                                      const RestoredOptions& options);

}  // namespace onceward::recovery
