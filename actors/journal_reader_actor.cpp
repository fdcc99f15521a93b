// Batching: what queues up while the store is read is read together next time.
#include "actors/journal_reader_actor.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace onceward::actors {

namespace {

constexpr std::int64_t store_retry_ms_min = 50;  // a read failed or a barrier is pending
constexpr std::int64_t store_retry_ms_max = 5'000;
constexpr std::int64_t start_up_retry_ms = 10;  // no room for the next page yet

/// The history itself is broken: no later read will help.
bool is_broken_history(ErrorCode code) {
  return code == ErrorCode::store_corrupt || code == ErrorCode::unknown_manifest ||
         code == ErrorCode::decode_failed || code == ErrorCode::impossible_transition;
}

}  // namespace

JournalReaderActor::JournalReaderActor(caf::actor_config& config, Node& node,
                                       std::unique_ptr<journal::JournalReader> reader, Epoch epoch)
    : caf::event_based_actor(config),
      node_(node),
      reader_(std::move(reader)),
      due_plan_(node.options.due_batch),
      epoch_(epoch) {
  node_.services.add();
}

caf::behavior JournalReaderActor::make_behavior() {
  // noexcept: the only user code reached from here is guarded where it is called.
  return {[this](ReaderMail& mail) noexcept {
    std::visit([this](auto&& content) { on(std::forward<decltype(content)>(content)); },
               std::move(mail.content));
  }};
}

void JournalReaderActor::on_exit() {
  queued_.clear();
  put_off_.clear();
  reader_.reset();
  node_.services.subtract();
}

void JournalReaderActor::on(mail::Stop&&) {
  quit();
}

void JournalReaderActor::on(mail::Recover&& recover) {
  if (recover.delay_ms > 0) return put_off(std::move(recover));
  queue(std::move(recover));
}

void JournalReaderActor::on(mail::RecoverWave&& wave) {
  ONCEWARD_CHECK(waves_expected_ > 0, "a router answers each WakeMany once");
  --waves_expected_;
  for (auto& recover : wave.recoveries) queue(std::move(recover));
  if (waves_expected_ == 0) on(mail::Flush{});
}

void JournalReaderActor::queue(mail::Recover&& recover) {
  queued_.push_back(std::move(recover));
  // Behind all mail that is already here. While routers gather a wave, its end flushes.
  if (flush_sent_ || waves_expected_ > 0) return;
  flush_sent_ = true;
  post(caf::actor_cast<caf::actor>(this), ReaderMail{mail::Flush{}});
}

void JournalReaderActor::put_off(mail::Recover&& recover) {
  const std::int64_t delay_ms = recover.delay_ms;
  put_off_.emplace(node_.alarm.elapsed_ms() + delay_ms, std::move(recover));
  node_.alarm.set(Alarm::recovery, delay_ms);
}

void JournalReaderActor::on(mail::RetryRecovery&&) {
  const std::int64_t now_ms = node_.alarm.elapsed_ms();
  while (!put_off_.empty() && put_off_.begin()->first <= now_ms) {
    queue(std::move(put_off_.extract(put_off_.begin()).mapped()));
  }
  if (!put_off_.empty()) node_.alarm.set(Alarm::recovery, put_off_.begin()->first - now_ms);
}

void JournalReaderActor::on(mail::BarrierDone&&) {
  for (auto& [at, recover] : std::exchange(put_off_, {})) queue(std::move(recover));
}

void JournalReaderActor::on(mail::Flush&&) {
  flush_sent_ = false;
  if (waves_expected_ > 0) return;
  auto all = std::exchange(queued_, {});
  for (std::size_t from = 0; from < all.size(); from += recover_batch_max) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
    const auto size = std::min(recover_batch_max, all.size() - from);
    replay_batch({std::make_move_iterator(first),
                  std::make_move_iterator(first + static_cast<std::ptrdiff_t>(size))});
  }
  if (!page_running_) return;
  page_running_ = false;
  if (!pages_left_) node_.recovered.store(true);
  node_.alarm.set(Alarm::start_up, 0);
}

void JournalReaderActor::replay_batch(std::vector<mail::Recover> batch) {
  std::vector<PersistenceId> ids;
  ids.reserve(batch.size());
  for (const auto& recover : batch) ids.push_back(recover.id);
  std::vector<StoredEvent> events;
  std::size_t next = 0;
  std::optional<Error> failure;
  const auto keep = [&events](const PersistenceId&, StoredEvent&& event) {
    events.push_back(std::move(event));
    return true;
  };
  const auto ended = [&](const PersistenceId&, Result<journal::HistoryEnd> end) {
    mail::Recover& recover = batch[next++];
    auto history = std::exchange(events, {});
    if (!end && !is_broken_history(end.error().code)) {
      failure = end.error();
      recover.delay_ms = std::clamp(recover.delay_ms * 2, store_retry_ms_min, store_retry_ms_max);
      return put_off(std::move(recover));
    }
    post(recover.entity,
         EntityMail{mail::Recovered{recover.incarnation, std::move(history), std::move(end)}});
  };
  reader_->replay_many(ids, keep, ended);
  ONCEWARD_CHECK(next == batch.size(), "replay_many ends each history once");
  report(failure ? &*failure : nullptr);
}

void JournalReaderActor::on(mail::LoadRequest&& load) {
  const EntityBinding* binding = node_.binding_of(load.id);
  try {
    node_.gate->deliver(load.id, mail::Loaded{binding->load(load.query)});
  } catch (const std::exception& e) {
    node_.gate->deliver(load.id, mail::LoadFailed{std::string("load: ") + e.what()});
  }
}

void JournalReaderActor::on(mail::Tick&&) {
  for (const auto& [at, recover] : put_off_) {
    post(recover.entity, EntityMail{mail::TurnDownLate{}});
  }
  if (node_.is_crowded()) {
    for (std::size_t nr = 0; nr < node_.options.routers; ++nr) {
      node_.gate->post_to(nr, RouterMail{mail::Trim{}});
    }
  }
  if (const std::size_t most = room(); most > 0 && waves_expected_ == 0) {
    auto rows = reader_->due(node_.now().wall, due_plan_.query_limit());
    report(rows ? nullptr : &rows.error());
    if (rows) wake(due_plan_.choose(*rows, most));
  }
  node_.alarm.set(Alarm::tick, node_.options.tick_ms);
}

void JournalReaderActor::on(mail::StartUp&&) {
  if (!pages_left_ || page_running_) return;
  const std::size_t most = std::min(room(), node_.options.due_batch);
  if (most == 0 || waves_expected_ > 0) return node_.alarm.set(Alarm::start_up, start_up_retry_ms);
  take_page(most);
}

// A page is as large as there is room for entities at work: a million open rows are taken up one
// after the other and not all at once.
void JournalReaderActor::take_page(std::size_t limit) {
  auto rows = reader_->open_before(epoch_, page_after_, limit);
  report(rows ? nullptr : &rows.error());
  if (!rows) return node_.alarm.set(Alarm::start_up, store_retry_ms_min);
  pages_left_ = rows->size() == limit;
  page_running_ = true;
  std::vector<PersistenceId> ids;
  for (const auto& row : *rows) {
    auto id = customer_persistence_id(row.key.customer);
    if (ids.empty() || ids.back() != id) ids.push_back(std::move(id));  // ordered by customer
  }
  if (!rows->empty()) page_after_ = rows->back().key;
  wake(ids);
  if (waves_expected_ == 0) on(mail::Flush{});
}

void JournalReaderActor::wake(const std::vector<PersistenceId>& ids) {
  std::map<std::size_t, mail::WakeMany> by_router;
  for (const auto& id : ids) by_router[node_.gate->router_of(id)].ids.push_back(id);
  waves_expected_ = by_router.size();
  for (auto& [router, wake] : by_router) {
    node_.gate->post_to(router, RouterMail{std::move(wake)});
  }
}

// Entities at work are bounded here for everything the node takes up by itself; commands have
// their own bound.
std::size_t JournalReaderActor::room() const {
  const std::int64_t room =
      static_cast<std::int64_t>(node_.options.resident_max) - node_.at_work.count();
  return static_cast<std::size_t>(std::max<std::int64_t>(room, 0));
}

void JournalReaderActor::report(const Error* error) {
  if (error == nullptr && !has_problem_) return;
  has_problem_ = error != nullptr;
  node_.report_reader(has_problem_ ? error->context : std::string());
}

}  // namespace onceward::actors
