// What is told about a customer, read from a journal: the answers of GET /v1/customers/..., also
// for verbs that read a store without a node.
#pragma once

#include <onceward/core/ids.hpp>
#include <onceward/core/sequence_nr.hpp>
#include <onceward/journal/journal.hpp>
#include <onceward/platform/http_server.hpp>

namespace onceward::ingress {

/// `{"customer","obligations":[obligation and "verdict"],"quarantined"}`; 404 if nothing is
/// recorded, 503 if the store cannot be read. Blocks on disk.
[[nodiscard]] platform::HttpResponse customer_answer(journal::JournalReader& reader,
                                                     const CustomerId& customer);

/// `{"customer","events":[{"sequence_nr","at","event","version","epoch","writer","data"}],
/// "verdicts":[...],"next_after","broken"}`: the events after `after`, at most 1000; `next_after`
/// is null at the end, `broken` says why a damaged history could not be read to its end.
[[nodiscard]] platform::HttpResponse timeline_answer(journal::JournalReader& reader,
                                                     const CustomerId& customer, SequenceNr after);

}  // namespace onceward::ingress
