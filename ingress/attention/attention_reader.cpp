// One walk per kind of item, page by page, so that memory does not grow with the store.
#include "ingress/attention/attention_reader.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include <onceward/billing/inbox_entity.hpp>

namespace onceward::ingress {

namespace {

using Sink = std::function<void(AttentionItem&&)>;

constexpr std::size_t page_rows = 1'000;

int rank_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::quarantine:
      return 0;
    case AttentionKind::inbox:
      return 1;
    case AttentionKind::refund:
      return 2;
    case AttentionKind::obligation:
    case AttentionKind::alarm:  // in one walk, so in one order
      return 3;
  }
  return 4;
}

auto order_of(const AttentionId& id) {
  return std::tuple(rank_of(id.kind), std::string_view(id.entity.value()),
                    std::string_view(id.object), std::string_view(id.key.customer.value()),
                    std::string_view(id.key.period.text()),
                    std::string_view(id.key.purpose.value()), id.number);
}

bool wants(const AttentionFilter& filter, AttentionKind kind) {
  return !filter.kind || *filter.kind == kind;
}

void offer(std::optional<AttentionItem> item, const AttentionFilter& filter, const Sink& sink) {
  if (item && matches(filter, *item)) sink(std::move(*item));
}

Result<Unit> walk_quarantines(journal::JournalReader& reader, const AttentionFilter& filter,
                              const Sink& sink) {
  const auto all = reader.quarantined();
  if (!all) return Unexpected{all.error()};
  for (const auto& entry : *all) offer(attention_of(entry), filter, sink);
  return ok();
}

/// Folds the histories of inbox objects, each from its beginning.
class InboxFold {
 public:
  void begin(const PersistenceId& id) {
    item_ = billing::InboxItem{};
    item_.object = inbox_object_of(id).value_or("");
    failure_.reset();
  }
  bool take(StoredEvent&& stored) {
    if (failure_) return false;
    auto event = billing::inbox_event_codec().decode(stored.event);
    auto folded = event ? billing::evolve_inbox(item_, *event)
                        : Result<Unit>(Unexpected{std::move(event).error()});
    if (!folded) failure_ = std::move(folded).error();
    return !failure_;
  }
  /// What is known of it; a history that cannot be read is a matter for a person too.
  [[nodiscard]] std::optional<AttentionItem> item(const Result<journal::HistoryEnd>& end) const {
    auto item = item_;
    const auto* error = failure_ ? &*failure_ : end ? nullptr : &end.error();
    if (error == nullptr) return attention_of(item);
    item.open = true;
    auto shown = attention_of(item);
    if (shown) shown->reason = "its history cannot be read: " + error->context;
    return shown;
  }

 private:
  billing::InboxItem item_;
  std::optional<Error> failure_;
};

Result<Unit> walk_inbox(journal::JournalReader& reader, const AttentionFilter& filter,
                        const Sink& sink) {
  std::optional<PersistenceId> after;
  while (true) {
    const auto ids = reader.ids_under("inbox/", after, page_rows);
    if (!ids) return Unexpected{ids.error()};
    std::optional<PersistenceId> present;
    InboxFold fold;
    const auto begin = [&](const PersistenceId& id) {
      if (present == id) return;
      present = id;
      fold.begin(id);
    };
    std::optional<Error> store_failure;
    reader.replay_many(
        *ids,
        [&](const PersistenceId& id, StoredEvent&& event) {
          begin(id);
          return fold.take(std::move(event));
        },
        [&](const PersistenceId& id, const Result<journal::HistoryEnd>& end) {
          begin(id);
          if (!end && end.error().code != ErrorCode::store_corrupt) store_failure = end.error();
          offer(fold.item(end), filter, sink);
        });
    if (store_failure) return Unexpected{std::move(*store_failure)};
    if (ids->size() < page_rows) return ok();
    after = ids->back();
  }
}

Result<Unit> walk_refunds(journal::JournalReader& reader, const AttentionFilter& filter,
                          const Sink& sink) {
  journal::RefundQuery query;
  query.status = RefundStatus::parked;
  query.limit = page_rows;
  while (true) {
    const auto refunds = reader.refunds(query);
    if (!refunds) return Unexpected{refunds.error()};
    for (const auto& refund : *refunds) offer(attention_of(refund), filter, sink);
    if (refunds->size() < page_rows) return ok();
    query.after = refunds->back().obligation;
    query.after_number = refunds->back().number;
  }
}

auto order_of(const ObligationKey& key) {
  return std::tuple(std::string_view(key.customer.value()), std::string_view(key.period.text()),
                    std::string_view(key.purpose.value()));
}

/// One walk over rows in the order of their keys, a page at a time.
class RowWalk {
 public:
  using Read = std::function<Result<std::vector<ObligationRow>>(
      const std::optional<ObligationKey>& after, std::size_t limit)>;
  explicit RowWalk(Read read) : read_(std::move(read)) {}

  /// The row to take next; null after the last one.
  [[nodiscard]] Result<const ObligationRow*> peek() {
    if (next_ == rows_.size() && !is_last_) {
      const auto after = rows_.empty() ? std::nullopt : std::optional(rows_.back().key);
      auto page = read_(after, page_rows);
      if (!page) return Unexpected{std::move(page).error()};
      rows_ = std::move(*page);
      next_ = 0;
      is_last_ = rows_.size() < page_rows;
    }
    return next_ < rows_.size() ? &rows_[next_] : nullptr;
  }
  void take() { ++next_; }

 private:
  Read read_;
  std::vector<ObligationRow> rows_;
  std::size_t next_ = 0;
  bool is_last_ = false;
};

/// Two walks as one: what a person owns or may own, and what is open and goes on by itself, where
/// it goes on for too long. A row that both hold, or that changes its place meanwhile, comes once.
Result<Unit> walk_all_rows(journal::JournalReader& reader,
                           const std::function<void(const ObligationRow&)>& take) {
  RowWalk owned(
      [&](const auto& after, std::size_t limit) { return reader.attention_rows(after, limit); });
  RowWalk open([&](const auto& after, std::size_t limit) {
    return reader.open_before(Epoch{std::numeric_limits<std::int64_t>::max()}, after, limit);
  });
  while (true) {
    const auto a = owned.peek();
    if (!a) return Unexpected{a.error()};
    const auto b = open.peek();
    if (!b) return Unexpected{b.error()};
    if (*a == nullptr && *b == nullptr) return ok();
    const bool has_both = *a != nullptr && *b != nullptr;
    const bool takes_a = *b == nullptr || (has_both && order_of((*a)->key) <= order_of((*b)->key));
    const bool takes_b = *a == nullptr || (has_both && order_of((*b)->key) <= order_of((*a)->key));
    take(takes_a ? **a : **b);
    if (takes_a) owned.take();
    if (takes_b) open.take();
  }
}

Result<Unit> walk_obligations(journal::JournalReader& reader, const AttentionView& view,
                              const AttentionFilter& filter, const Sink& sink) {
  const auto take = [&](const ObligationRow& row) {
    offer(attention_of(row, view.deadlines, view.now), filter, sink);
  };
  if (!filter.customer) return walk_all_rows(reader, take);
  const auto rows = reader.rows_of(*filter.customer);
  if (!rows) return Unexpected{rows.error()};
  for (const auto& row : *rows) take(row);
  return ok();
}

Result<std::optional<AttentionItem>> find_obligation(journal::JournalReader& reader,
                                                     const AttentionView& view,
                                                     const AttentionId& id) {
  const auto row = reader.row(id.key);
  if (!row) return Unexpected{row.error()};
  auto item = *row ? attention_of(**row, view.deadlines, view.now) : std::nullopt;
  return item && item->id == id ? item : std::optional<AttentionItem>();
}

Result<std::optional<AttentionItem>> find_refund(journal::JournalReader& reader,
                                                 const AttentionId& id) {
  const auto refunds = reader.refunds_of(id.key.customer);
  if (!refunds) return Unexpected{refunds.error()};
  for (const auto& refund : *refunds) {
    if (refund.obligation == id.key && refund.number == id.number) return attention_of(refund);
  }
  return std::optional<AttentionItem>();
}

Result<std::optional<AttentionItem>> find_inbox(journal::JournalReader& reader,
                                                const AttentionId& id) {
  const auto entity = inbox_persistence_id(id.object);
  if (!entity) return std::optional<AttentionItem>();
  InboxFold fold;
  fold.begin(*entity);
  const auto end = reader.replay(*entity, {}, [&](const PersistenceId&, StoredEvent&& event) {
    return fold.take(std::move(event));
  });
  if (!end && end.error().code != ErrorCode::store_corrupt) return Unexpected{end.error()};
  return fold.item(end);
}

}  // namespace

bool is_before(const AttentionId& a, const AttentionId& b) {
  return order_of(a) < order_of(b);
}

Result<Unit> for_each_attention(journal::JournalReader& reader, const AttentionView& view,
                                const AttentionFilter& filter, const Sink& sink) {
  if (wants(filter, AttentionKind::quarantine)) {
    if (auto done = walk_quarantines(reader, filter, sink); !done) return done;
  }
  if (wants(filter, AttentionKind::inbox)) {
    if (auto done = walk_inbox(reader, filter, sink); !done) return done;
  }
  if (wants(filter, AttentionKind::refund)) {
    if (auto done = walk_refunds(reader, filter, sink); !done) return done;
  }
  if (!wants(filter, AttentionKind::obligation) && !wants(filter, AttentionKind::alarm)) {
    return ok();
  }
  return walk_obligations(reader, view, filter, sink);
}

Result<std::optional<AttentionItem>> find_attention(journal::JournalReader& reader,
                                                    const AttentionView& view,
                                                    const AttentionId& id) {
  switch (id.kind) {
    case AttentionKind::obligation:
    case AttentionKind::alarm:
      return find_obligation(reader, view, id);
    case AttentionKind::refund:
      return find_refund(reader, id);
    case AttentionKind::inbox:
      return find_inbox(reader, id);
    case AttentionKind::quarantine:
      break;
  }
  const auto all = reader.quarantined();
  if (!all) return Unexpected{all.error()};
  for (const auto& entry : *all) {
    if (entry.persistence_id == id.entity) return std::optional(attention_of(entry));
  }
  return std::optional<AttentionItem>();
}

}  // namespace onceward::ingress
