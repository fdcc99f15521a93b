// attention list, show, retry, resolve: what a person has to look at, through a node.
#include <cstdio>
#include <optional>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;

/// Everything that matches, over all pages.
struct Matching {
  json::array items;
  json::value count;
  json::value totals;
};

std::string filter_query(const AttentionOptions& options) {
  std::string query = "?limit=1000";
  const auto add = [&query](const char* name, const std::string& value) {
    if (!value.empty()) query += std::string("&") + name + "=" + url_part(value);
  };
  add("kind", options.kind);
  add("status", options.status);
  add("customer", options.customer);
  add("period", options.period);
  add("purpose", options.purpose);
  add("reason", options.reason_part);
  return query;
}

/// Collects all pages; absent, and `exit` set and told, if a page fails.
std::optional<Matching> read_all(const Source& source, NodeClient& client,
                                 const AttentionOptions& options, ExitCode& exit) {
  Matching matching;
  std::string cursor;
  while (true) {
    auto page = client.ask({.path = "/v1/attention" + filter_query(options) + cursor});
    if (!page) {
      exit = report(page.error());
      return std::nullopt;
    }
    const auto* body = page->body.if_object();
    const auto* items = body == nullptr ? nullptr : body->if_contains("items");
    if (!page->is_success() || items == nullptr || !items->is_array()) {
      exit = tell_problem(source, *page);
      return std::nullopt;
    }
    for (const auto& item : items->as_array()) matching.items.push_back(item);
    if (cursor.empty()) {  // count and sum are over all pages
      matching.count = body->at("count");
      matching.totals = body->at("totals");
    }
    const auto next = page->text_at("next_cursor");
    if (next.empty()) return matching;
    cursor = "&cursor=" + url_part(next);
  }
}

std::string sum_text(const json::value& totals) {
  std::string text;
  if (totals.is_array()) {
    for (const auto& total : totals.as_array()) {
      if (const auto* money = total.if_object()) {
        text += (text.empty() ? "" : ", ") + money_text(*money);
      }
    }
  }
  return text.empty() ? "no money" : text;
}

std::string count_and_sum(const Matching& matching) {
  return json::serialize(matching.count) + (matching.items.size() == 1 ? " item, " : " items, ") +
         sum_text(matching.totals);
}

void print_item(const json::value& item) {
  const NodeAnswer row{.status = 200, .text = "", .body = item};
  const bool has_money = !row.text_at("currency").empty();
  std::printf("%-15s %16s  %s  %s\n", row.text_at("status").c_str(),
              has_money ? money_text(item.as_object()).c_str() : "-", row.text_at("id").c_str(),
              row.text_at("reason").c_str());
}

json::object act_body(const AttentionOptions& options) {
  json::object body{{"reason", options.reason}};
  if (!options.resolution.empty()) body["resolution"] = options.resolution;
  if (!options.reference.empty()) body["reference"] = options.reference;
  return body;
}

/// Acts on one item and tells its state afterwards; ok if the node accepted it.
ExitCode act_on(const Source& source, NodeClient& client, const AttentionOptions& options,
                const std::string& id) {
  NodeRequest request{.path = "/v1/attention/" + url_part(id) + "/" + options.action,
                      .body = json::serialize(act_body(options))};
  auto answer = post_repeatedly(client, request, {.request_id = new_request_id()});
  if (!answer) return report(answer.error());
  if (!answer->is_success()) return tell_problem(source, *answer);
  if (source.json) {
    std::printf("%s\n", json::serialize(answer->body).c_str());
  } else {
    const auto status = answer->text_at("status");
    std::printf("%-15s %s\n", status.empty() ? "resolved" : status.c_str(), id.c_str());
  }
  return ExitCode::ok;
}

std::string question_of(const AttentionOptions& options, const std::string& what) {
  if (options.action == "retry") return "Have " + what + " looked at again?";
  if (!options.resolution.empty()) return "Resolve " + what + " as " + options.resolution + "?";
  return "Resolve " + what + "?";
}

/// Absent if the verdict may be given: an obligation or refund needs one that is named.
std::optional<ExitCode> refuse_without_verdict(const AttentionOptions& options,
                                               std::string_view id) {
  if (options.action != "resolve" || !options.resolution.empty()) return std::nullopt;
  if (id.starts_with("obligation:")) {
    return report({ErrorCode::invalid_argument,
                   "say what became of it: --as paid_by_charge --reference CHARGE, --as "
                   "paid_outside --reference HOW, --as written_off (nothing more is tried), or "
                   "--as not_charged; nothing was recorded"});
  }
  if (id.starts_with("refund:")) {
    return report({ErrorCode::invalid_argument,
                   "say what became of it: --as given --reference REFUND, or --as not_given; "
                   "nothing was recorded"});
  }
  return std::nullopt;
}

ExitCode act_on_all(const Source& source, NodeClient& client, const AttentionOptions& options) {
  ExitCode exit = ExitCode::ok;
  const auto matching = read_all(source, client, options, exit);
  if (!matching) return exit;
  if (matching->items.empty()) {
    return report({ErrorCode::not_found, "nothing that needs a person matches"});
  }
  for (const auto& item : matching->items) {
    const NodeAnswer row{.status = 200, .text = "", .body = item};
    if (const auto stop = refuse_without_verdict(options, row.text_at("id"))) return *stop;
  }
  std::fprintf(stderr, "%s\n", count_and_sum(*matching).c_str());
  if (const auto stop =
          insist(question_of(options, count_and_sum(*matching)), options.is_confirmed)) {
    return *stop;
  }
  std::size_t accepted = 0;
  for (const auto& item : matching->items) {
    const NodeAnswer row{.status = 200, .text = "", .body = item};
    const auto one = act_on(source, client, options, row.text_at("id"));
    if (one == ExitCode::ok) {
      ++accepted;
    } else {
      exit = one;
    }
  }
  if (accepted == matching->items.size()) return ExitCode::ok;
  std::fprintf(stderr, "%zu of %zu were accepted\n", accepted, matching->items.size());
  return accepted == 0 ? exit : ExitCode::partial;
}

/// One item as its count and sum; by its id alone if nobody has to look at it (any more): what the
/// act then means is the node's to say.
std::string one_with_sum(NodeClient& client, const std::string& id) {
  const auto answer = client.ask({.path = "/v1/attention/" + url_part(id)});
  if (!answer || !answer->is_success() || !answer->body.is_object()) return id;
  const bool has_money = !answer->text_at("currency").empty();
  return "1 item, " + (has_money ? money_text(answer->body.as_object()) : "no money") + ": " + id;
}

bool has_filter(const AttentionOptions& options) {
  return !options.kind.empty() || !options.status.empty() || !options.customer.empty() ||
         !options.period.empty() || !options.purpose.empty() || !options.reason_part.empty();
}

}  // namespace

ExitCode attention_list(const Source& source, const AttentionOptions& options) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  ExitCode exit = ExitCode::ok;
  auto matching = read_all(source, *client, options, exit);
  if (!matching) return exit;
  if (source.json) {
    const json::object body{
        {"items", matching->items}, {"count", matching->count}, {"totals", matching->totals}};
    std::printf("%s\n", json::serialize(body).c_str());
    return ExitCode::ok;
  }
  for (const auto& item : matching->items) print_item(item);
  std::fprintf(stderr, "%s\n", count_and_sum(*matching).c_str());
  return ExitCode::ok;
}

ExitCode attention_show(const Source& source, const AttentionOptions& options) {
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  auto answer = client->ask({.path = "/v1/attention/" + url_part(options.id)});
  if (!answer) return report(answer.error());
  if (!answer->is_success() || !answer->body.is_object()) return tell_problem(source, *answer);
  if (source.json) {
    std::printf("%s\n", json::serialize(answer->body).c_str());
    return ExitCode::ok;
  }
  for (const auto* member : {"id", "status", "reason", "since", "customer", "period", "purpose"}) {
    const auto text = answer->text_at(member);
    if (!text.empty()) std::printf("%-10s %s\n", member, text.c_str());
  }
  if (!answer->text_at("currency").empty()) {
    std::printf("%-10s %s\n", "amount", money_text(answer->body.as_object()).c_str());
  }
  const auto* timeline = answer->body.as_object().if_contains("timeline");
  if (timeline != nullptr && timeline->is_array()) {
    for (const auto& element : timeline->as_array()) {
      const NodeAnswer row{.status = 200, .text = "", .body = element};
      std::printf("%5s  %s  %-22s %s\n", row.text_at("sequence_nr").c_str(),
                  row.text_at("at").c_str(), row.text_at("event").c_str(),
                  row.text_at("data").c_str());
    }
  }
  std::printf("next step: %s\n", answer->text_at("next_step").c_str());
  return ExitCode::ok;
}

ExitCode attention_act(const Source& source, const AttentionOptions& options) {
  const bool is_bulk = options.is_all || has_filter(options);
  if (options.id.empty() != is_bulk) {
    return report({ErrorCode::invalid_argument,
                   "name one id, or --all or filters for all that match, not both"});
  }
  auto client = NodeClient::open(source);
  if (!client) return report(client.error());
  if (is_bulk) return act_on_all(source, *client, options);
  if (const auto stop = refuse_without_verdict(options, options.id)) return *stop;
  const auto what = one_with_sum(*client, options.id);
  std::fprintf(stderr, "%s\n", what.c_str());
  if (is_asked_interactively()) {
    if (const auto stop = insist(question_of(options, what), options.is_confirmed)) return *stop;
  }
  return act_on(source, *client, options, options.id);
}

}  // namespace onceward::app
