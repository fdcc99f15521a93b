// Routes of customers: the state of all obligations, and the full history.
#include <onceward/ingress/customer_view.hpp>

#include <charconv>

#include "ingress/http/json_text.hpp"
#include "ingress/http/routes.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

constexpr std::size_t timeline_events_max = 1'000;

platform::HttpResponse no_such_customer(const CustomerId& customer) {
  Problem problem;
  problem.kind = ProblemKind::not_found;
  problem.detail = "nothing is recorded for the customer " + customer.value();
  return problem_answer(std::move(problem));
}

Result<std::optional<journal::Quarantined>> quarantine_of(journal::JournalReader& reader,
                                                          const CustomerId& customer) {
  auto all = reader.quarantined();
  if (!all) return Unexpected{std::move(all).error()};
  const auto id = customer_persistence_id(customer);
  for (auto& entry : *all) {
    if (entry.persistence_id == id) return std::optional(std::move(entry));
  }
  return std::optional<journal::Quarantined>();
}

/// What a person concludes from an obligation's status.
std::string verdict(const ObligationRow& row) {
  switch (status_row(row.status).charge_state) {
    case ChargeState::charged:
      return "charged once: " + row.charge_id;
    case ChargeState::none:
      return "not charged: " + std::string(to_text(row.status));
    case ChargeState::pending:
      return "open: " + std::string(to_text(row.status));
    case ChargeState::unknown:
      return "not known yet whether it was charged: " + std::string(to_text(row.status));
  }
  return "";
}

struct TimelineRequest {
  CustomerId customer;
  SequenceNr after;
};

Result<TimelineRequest> parse_timeline(const Call& call) {
  auto query = Query::parse(call.request.query, {"after"});
  if (!query) return Unexpected{std::move(query).error()};
  auto customer = parse_customer_id(call.segments[2]);
  if (!customer) return Unexpected{std::move(customer).error()};
  TimelineRequest request{std::move(*customer), {}};
  const auto after = query->find("after").value_or("0");
  const auto [end, error] =
      std::from_chars(after.data(), after.data() + after.size(), request.after.value);
  if (after.empty() || error != std::errc{} || end != after.data() + after.size()) {
    return fail(ErrorCode::invalid_argument, "after must be a sequence number");
  }
  return request;
}

}  // namespace

platform::HttpResponse customer_answer(journal::JournalReader& reader, const CustomerId& customer) {
  const auto rows = reader.rows_of(customer);
  if (!rows) return read_failed(rows.error());
  const auto quarantined = quarantine_of(reader, customer);
  if (!quarantined) return read_failed(quarantined.error());
  if (rows->empty() && !*quarantined) return no_such_customer(customer);
  const auto refunds = reader.refunds_of(customer);
  if (!refunds) return read_failed(refunds.error());
  json::array obligations;
  for (const auto& row : *rows) {
    auto obligation = obligation_json({.row = row});
    add_refunds(obligation, row.key, *refunds);
    obligation["verdict"] = verdict(row);
    obligations.push_back(std::move(obligation));
  }
  json::object body;
  body["customer"] = customer.value();
  body["obligations"] = std::move(obligations);
  body["quarantined"] = *quarantined ? json::value{{"since", to_iso((*quarantined)->since)},
                                                   {"reason", (*quarantined)->reason}}
                                     : json::value(nullptr);
  return json_answer(200, body);
}

platform::HttpResponse timeline_answer(journal::JournalReader& reader, const CustomerId& customer,
                                       SequenceNr after) {
  json::array events;
  bool is_cut = false;
  const auto end = reader.replay(customer_persistence_id(customer), after,
                                 [&](const PersistenceId&, StoredEvent&& event) {
                                   is_cut = events.size() == timeline_events_max;
                                   if (!is_cut) events.push_back(event_json(event));
                                   return !is_cut;
                                 });
  if (!end && end.error().code != ErrorCode::store_corrupt) return read_failed(end.error());
  const auto rows = reader.rows_of(customer);
  if (!rows) return read_failed(rows.error());
  if (end && end->last.value == 0 && rows->empty()) return no_such_customer(customer);
  json::array verdicts;
  for (const auto& row : *rows) {
    verdicts.push_back(json::object{{"period", row.key.period.text()},
                                    {"purpose", row.key.purpose.value()},
                                    {"verdict", verdict(row)}});
  }
  json::object body;
  body["customer"] = customer.value();
  const auto last = events.empty() ? json::value(nullptr) : events.back().at("sequence_nr");
  body["events"] = std::move(events);
  body["verdicts"] = std::move(verdicts);
  body["next_after"] = is_cut ? last : json::value(nullptr);
  // What could be read is shown; that it is not all of it must not be overlooked.
  body["broken"] = end ? json::value(nullptr) : json::value(end.error().context);
  return json_answer(200, body);
}

void get_customer(Services& services, Call call) {
  auto query = Query::parse(call.request.query, {});
  if (!query) return call.answer(bad_request(query.error()));
  auto customer = parse_customer_id(call.segments[2]);
  if (!customer) return call.answer(bad_request(customer.error()));
  read_then(services, call.answer,
            [customer = std::move(*customer), answer = call.answer](
                journal::JournalReader& reader) { answer(customer_answer(reader, customer)); });
}

void get_timeline(Services& services, Call call) {
  auto request = parse_timeline(call);
  if (!request) return call.answer(bad_request(request.error()));
  read_then(services, call.answer,
            [request = std::move(*request), answer = call.answer](journal::JournalReader& reader) {
              answer(timeline_answer(reader, request.customer, request.after));
            });
}

}  // namespace onceward::ingress
