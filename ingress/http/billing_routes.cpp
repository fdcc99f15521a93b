// Routes of obligations: bill one, read one, list a period.
#include <charconv>

#include <onceward/core/digest.hpp>

#include "ingress/http/bill_exchange.hpp"
#include "ingress/http/json_text.hpp"
#include "ingress/http/obligation_key.hpp"
#include "ingress/http/routes.hpp"
#include "ingress/http/row_watch.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

constexpr std::size_t page_rows_default = 100;
constexpr std::size_t page_rows_max = 1'000;

Result<std::int64_t> parse_wait(const Query& query) {
  const auto text = query.find("wait");
  if (!text) return std::int64_t{0};
  const auto seconds = parse_wait_seconds(*text);
  if (seconds) return *seconds;
  return fail(ErrorCode::invalid_argument, "wait must be a whole number of seconds, 0 to 60");
}

platform::HttpResponse no_such_obligation(const ObligationKey& key) {
  Problem problem;
  problem.kind = ProblemKind::not_found;
  problem.detail = to_display(key) + " is not recorded";
  return problem_answer(std::move(problem));
}

/// Opaque to callers: hex of the netstrings of customer and purpose.
std::string cursor_after(const ObligationRow& row) {
  const std::array<std::string_view, 2> parts{row.key.customer.value(), row.key.purpose.value()};
  constexpr std::string_view hex = "0123456789abcdef";
  std::string cursor;
  for (const char c : netstrings(parts)) {
    const auto byte = static_cast<unsigned char>(c);
    cursor += hex[byte >> 4U];
    cursor += hex[byte & 15U];
  }
  return cursor;
}

/// One netstring off the front of `text`; absent if there is none.
std::optional<std::string> take_netstring(std::string_view& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  if (length >= text.size() || text[length] != ',') return std::nullopt;
  std::string field(text.substr(0, length));
  text.remove_prefix(length + 1);
  return field;
}

Result<Unit> parse_cursor(std::string_view cursor, journal::RowQuery& query) {
  std::string escaped;
  for (std::size_t i = 0; i < cursor.size(); i += 2)
    escaped += "%" + std::string(cursor.substr(i, 2));
  const auto bytes = percent_decode(escaped);
  if (bytes && cursor.size() % 2 == 0) {
    std::string_view rest = *bytes;
    const auto customer = take_netstring(rest);
    const auto purpose = take_netstring(rest);
    if (customer && purpose && rest.empty()) {
      auto id = parse_customer_id(*customer);
      auto what = parse_purpose(*purpose);
      if (id && what) {
        query.after_customer = std::move(*id);
        query.after_purpose = std::move(*what);
        return ok();
      }
    }
  }
  return fail(ErrorCode::invalid_argument,
              "cursor is not one of ours; give next_cursor of the page before, unchanged");
}

enum class ListFormat : std::uint8_t { json, csv, ndjson };

struct ListRequest {
  journal::RowQuery rows;
  ListFormat format = ListFormat::json;
};

Result<Unit> parse_limit(std::string_view text, std::size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc{} && end == text.data() + text.size() && out >= 1 &&
      out <= page_rows_max) {
    return ok();
  }
  return fail(ErrorCode::invalid_argument, "limit must be a whole number from 1 to 1000");
}

Result<ListRequest> parse_list(const Call& call) {
  auto query = Query::parse(call.request.query, {"status", "cursor", "limit", "format"});
  if (!query) return Unexpected{std::move(query).error()};
  ListRequest list;
  list.rows.limit = page_rows_default;
  auto period = BillingPeriod::parse(call.segments[2]);
  if (!period) return Unexpected{std::move(period).error()};
  list.rows.period = std::move(*period);
  if (const auto text = query->find("status")) {
    auto status = parse_obligation_status(*text);
    if (!status) return Unexpected{std::move(status).error()};
    list.rows.status = *status;
  }
  if (const auto text = query->find("cursor")) {
    if (auto parsed = parse_cursor(*text, list.rows); !parsed) return Unexpected{parsed.error()};
  }
  if (const auto text = query->find("limit")) {
    if (auto parsed = parse_limit(*text, list.rows.limit); !parsed) {
      return Unexpected{parsed.error()};
    }
  }
  const auto format = query->find("format").value_or("json");
  if (format == "csv") list.format = ListFormat::csv;
  if (format == "ndjson") list.format = ListFormat::ndjson;
  if (list.format == ListFormat::json && format != "json") {
    return fail(ErrorCode::invalid_argument, "format must be json, csv or ndjson");
  }
  return list;
}

std::vector<journal::Quarantined>::const_iterator find_quarantined(
    const std::vector<journal::Quarantined>& all, const CustomerId& customer) {
  const auto id = customer_persistence_id(customer);
  return std::find_if(all.begin(), all.end(),
                      [&](const auto& entry) { return entry.persistence_id == id; });
}

platform::HttpResponse list_answer(const ListRequest& list, const std::vector<ObligationRow>& rows,
                                   const std::vector<journal::Quarantined>& quarantined) {
  // A full page may be the last one; then the next is empty.
  const bool may_go_on = rows.size() == list.rows.limit;
  const std::string next = may_go_on ? cursor_after(rows.back()) : "";
  const auto as_json = [&](const ObligationRow& row) {
    const auto entry = find_quarantined(quarantined, row.key.customer);
    return obligation_json(
        {.row = row, .quarantined = entry == quarantined.end() ? nullptr : &*entry});
  };
  std::string text = list.format == ListFormat::csv ? obligation_csv_header() : "";
  boost::json::array items;
  for (const auto& row : rows) {
    switch (list.format) {
      case ListFormat::json:
        items.push_back(as_json(row));
        break;
      case ListFormat::csv:
        text += obligation_csv_line(row);
        break;
      case ListFormat::ndjson:
        text += boost::json::serialize(as_json(row)) + "\n";
        break;
    }
  }
  if (list.format == ListFormat::json) {
    boost::json::object body;
    body["period"] = list.rows.period.text();
    body["obligations"] = std::move(items);
    body["next_cursor"] = may_go_on ? boost::json::value(next) : boost::json::value(nullptr);
    return json_answer(200, body);
  }
  auto response =
      text_answer(200,
                  list.format == ListFormat::csv ? "text/csv; charset=utf-8; header=present"
                                                 : "application/x-ndjson",
                  std::move(text));
  if (may_go_on) add_header(response, "Onceward-Next-Cursor", next);
  return response;
}

}  // namespace

void post_billing(Services& services, Call call) {
  if (call.request.body.size() > json_bytes_max) return call.answer(too_large());
  auto request = parse_bill_request(call.request);
  if (!request) return call.answer(bad_request(request.error()));
  if (services.mode == Mode::live && is_test_method(request->payment_method)) {
    return call.answer(bad_request(test_method_refused()));
  }
  bill(services, std::move(call), std::move(*request));
}

void get_obligation(Services& services, Call call) {
  auto query = Query::parse(call.request.query, {"purpose", "wait"});
  if (!query) return call.answer(bad_request(query.error()));
  auto key = parse_obligation_key(call, *query);
  if (!key) return call.answer(bad_request(key.error()));
  auto wait_s = parse_wait(*query);
  if (!wait_s) return call.answer(bad_request(wait_s.error()));
  const Watch watch{.key = *key, .until_boottime_ms = services.now().boottime_ms + *wait_s * 1000};
  watch_row(services, watch, [key = *key, answer = std::move(call.answer)](Result<RowLook> look) {
    if (!look) return answer(read_failed(look.error()));
    if (!look->row) return answer(no_such_obligation(key));
    auto body = obligation_json(
        {.row = *look->row, .quarantined = look->quarantined ? &*look->quarantined : nullptr});
    add_refunds(body, key, look->refunds);
    answer(json_answer(200, body));
  });
}

void list_period(Services& services, Call call) {
  auto list = parse_list(call);
  if (!list) return call.answer(bad_request(list.error()));
  read_then(services, call.answer,
            [list = std::move(*list), answer = call.answer](journal::JournalReader& reader) {
              const auto rows = reader.rows(list.rows);
              if (!rows) return answer(read_failed(rows.error()));
              const auto quarantined = reader.quarantined();
              if (!quarantined) return answer(read_failed(quarantined.error()));
              answer(list_answer(list, *rows, *quarantined));
            });
}

}  // namespace onceward::ingress
