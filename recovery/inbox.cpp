// Folds the histories of one page of inbox entities.
#include <onceward/recovery/inbox.hpp>

#include <map>
#include <optional>
#include <utility>

namespace onceward::recovery {

namespace {

constexpr std::string_view prefix = "inbox/";

// What the histories of one page fold to, and the first error met on the way.
class Folding {
 public:
  bool take(const PersistenceId& id, const StoredEvent& stored) {
    billing::InboxItem& item = items_[id];
    if (item.object.empty()) item.object = id.value().substr(prefix.size());
    const auto event = billing::inbox_event_codec().decode(stored.event);
    const auto folded =
        event ? billing::evolve_inbox(item, *event) : Result<Unit>(Unexpected{event.error()});
    if (!folded && !error_)
      error_ = Error{folded.error().code, id.value() + ": " + folded.error().context};
    return folded.has_value();
  }
  void end(const Result<journal::HistoryEnd>& end) {
    if (!end && !error_) error_ = end.error();
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] billing::InboxItem& item(const PersistenceId& id) { return items_[id]; }

 private:
  std::map<PersistenceId, billing::InboxItem> items_;
  std::optional<Error> error_;
};

}  // namespace

Result<InboxPage> read_inbox(journal::JournalReader& reader, const std::string& after,
                             std::size_t limit, bool open_only) {
  std::optional<PersistenceId> last;
  if (!after.empty()) last = PersistenceId(std::string(prefix) + after);
  auto ids = reader.ids_under(prefix, last, limit);
  if (!ids) return Unexpected{std::move(ids).error()};
  Folding folding;
  reader.replay_many(
      *ids, [&](const PersistenceId& id, StoredEvent&& stored) { return folding.take(id, stored); },
      [&](const PersistenceId&, Result<journal::HistoryEnd> end) { folding.end(end); });
  if (folding.error()) return Unexpected{*folding.error()};
  InboxPage page;
  for (const auto& id : *ids) {
    billing::InboxItem& item = folding.item(id);
    if (item.open || !open_only) page.items.push_back(std::move(item));
  }
  if (ids->size() == limit) page.next = ids->back().value().substr(prefix.size());
  return page;
}

Result<billing::InboxItem> read_inbox_item(journal::JournalReader& reader,
                                           const std::string& object) {
  auto id = inbox_persistence_id(object);
  if (!id) return Unexpected{std::move(id).error()};
  Folding folding;
  folding.end(reader.replay(*id, SequenceNr{}, [&](const PersistenceId& of, StoredEvent&& stored) {
    return folding.take(of, stored);
  }));
  if (folding.error()) return Unexpected{*folding.error()};
  billing::InboxItem item = std::move(folding.item(*id));
  if (item.hints == 0) return fail(ErrorCode::not_found, "the inbox holds nothing about it");
  return item;
}

}  // namespace onceward::recovery
