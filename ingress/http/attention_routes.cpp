// Routes of attention: list, show, retry, resolve. A retry makes an entity look again, never a
// blind send; a verdict is stored with who gave it and why.
#include <any>
#include <charconv>
#include <deque>
#include <random>

#include <onceward/billing/hint_commands.hpp>

#include "ingress/attention/attention_json.hpp"
#include "ingress/attention/attention_reader.hpp"
#include "ingress/http/routes.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

constexpr std::size_t page_items_default = 100;
constexpr std::size_t page_items_max = 1'000;
/// Of the newest events that are shown with one item.
constexpr std::size_t timeline_events_max = 200;

struct ListRequest {
  AttentionFilter filter;
  std::optional<AttentionId> after;
  std::size_t limit = page_items_default;
};

Result<std::size_t> parse_limit(std::string_view text) {
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && limit >= 1 && limit <= page_items_max) return limit;
  return fail(ErrorCode::invalid_argument, "limit must be a whole number from 1 to 1000");
}

Result<ListRequest> parse_list(const Call& call) {
  auto query = Query::parse(call.request.query, {"kind", "status", "customer", "period", "purpose",
                                                 "reason", "cursor", "limit"});
  if (!query) return Unexpected{std::move(query).error()};
  auto filter = parse_attention_filter(*query);
  if (!filter) return Unexpected{std::move(filter).error()};
  ListRequest request;
  request.filter = std::move(*filter);
  if (const auto text = query->find("cursor")) {
    auto after = parse_attention_id(*text);
    if (!after) return Unexpected{std::move(after).error()};
    request.after = std::move(*after);
  }
  if (const auto text = query->find("limit")) {
    const auto limit = parse_limit(*text);
    if (!limit) return Unexpected{limit.error()};
    request.limit = *limit;
  }
  return request;
}

AttentionView view_of(const Services& services) {
  return {.deadlines = services.attention, .now = services.now().wall};
}

platform::HttpResponse list_answer(journal::JournalReader& reader, const AttentionView& view,
                                   const ListRequest& request) {
  AttentionTally tally;
  json::array items;
  std::string last;
  bool is_cut = false;
  const auto walked = for_each_attention(reader, view, request.filter, [&](AttentionItem&& item) {
    tally.add(item);
    if (request.after && !is_before(*request.after, item.id)) return;
    is_cut = items.size() == request.limit;
    if (is_cut) return;
    last = to_text(item.id);
    items.push_back(attention_json(item));
  });
  if (!walked) return read_failed(walked.error());
  json::object body;
  body["items"] = std::move(items);
  body["count"] = tally.count();
  body["totals"] = totals_json(tally);
  body["next_cursor"] = is_cut ? json::value(last) : json::value(nullptr);
  return json_answer(200, body);
}

PersistenceId entity_of(const AttentionId& id) {
  switch (id.kind) {
    case AttentionKind::obligation:
    case AttentionKind::alarm:
    case AttentionKind::refund:
      return customer_persistence_id(id.key.customer);
    case AttentionKind::quarantine:
      return id.entity;
    case AttentionKind::inbox:
      break;
  }
  return PersistenceId("inbox/" + id.object);
}

/// An event that names another obligation of the customer does not belong to the item.
bool concerns(const AttentionId& id, const json::object& event) {
  const auto* data = event.at("data").if_object();
  const auto* period = data == nullptr ? nullptr : data->if_contains("period");
  const auto* purpose = data == nullptr ? nullptr : data->if_contains("purpose");
  if (period == nullptr || !period->is_string()) return true;
  if (id.kind == AttentionKind::quarantine || id.kind == AttentionKind::inbox) return true;
  return period->as_string() == id.key.period.text() &&
         (purpose == nullptr || !purpose->is_string() ||
          purpose->as_string() == id.key.purpose.value());
}

platform::HttpResponse show_answer(journal::JournalReader& reader, const AttentionView& view,
                                   const AttentionId& id) {
  const auto item = find_attention(reader, view, id);
  if (!item) return read_failed(item.error());
  if (!*item) {
    Problem problem;
    problem.kind = ProblemKind::not_found;
    problem.detail = "nobody has to look at " + to_text(id);
    return problem_answer(std::move(problem));
  }
  std::deque<json::object> events;
  const auto end = reader.replay(entity_of(id), {}, [&](const PersistenceId&, StoredEvent&& event) {
    auto shown = event_json(event);
    if (!concerns(id, shown)) return true;
    events.push_back(std::move(shown));
    if (events.size() > timeline_events_max) events.pop_front();
    return true;
  });
  if (!end && end.error().code != ErrorCode::store_corrupt) return read_failed(end.error());
  auto body = attention_json(**item);
  json::array timeline;
  for (auto& event : events) timeline.push_back(std::move(event));
  body["timeline"] = std::move(timeline);
  body["broken"] = end ? json::value(nullptr) : json::value(end.error().context);
  return json_answer(200, body);
}

}  // namespace

void list_attention(Services& services, Call call) {
  auto request = parse_list(call);
  if (!request) return call.answer(bad_request(request.error()));
  const auto view = view_of(services);
  // All items are counted each time: not among the reads that others wait for.
  const bool posted = services.slow_pool.post(
      [view, request = std::move(*request), answer = call.answer](journal::JournalReader& reader) {
        answer(list_answer(reader, view, request));
      });
  if (!posted) call.answer(error_answer({ErrorCode::busy, "too many lists are waiting"}));
}

void get_attention(Services& services, Call call) {
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  auto id = parse_attention_id(call.segments[2]);
  if (!id) return call.answer(bad_request(id.error()));
  read_then(services, call.answer,
            [view = view_of(services), id = std::move(*id), answer = call.answer](
                journal::JournalReader& reader) { answer(show_answer(reader, view, id)); });
}

}  // namespace onceward::ingress
