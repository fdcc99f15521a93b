// customers show and timeline: from a node, or from a store that may be live or stopped.
#include <cstdio>

#include <onceward/ingress/customer_view.hpp>
#include <onceward/journal/sqlite_journal.hpp>

#include "app/config/config_load.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/store_verbs.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;

NodeAnswer as_node_answer(platform::HttpResponse response) {
  NodeAnswer answer;
  answer.status = response.status;
  json::error_code error;
  answer.body = json::parse(response.body, error);
  answer.text = std::move(response.body);
  return answer;
}

struct Question {
  CustomerId customer;
  bool timeline = false;
  std::uint64_t after = 0;
};

Result<NodeAnswer> ask_node(const Source& source, const Question& question) {
  auto client = NodeClient::open(source);
  if (!client) return Unexpected{std::move(client).error()};
  std::string path = "/v1/customers/" + url_part(question.customer.value());
  if (question.timeline) path += "/timeline?after=" + std::to_string(question.after);
  return client->ask({.path = std::move(path)});
}

Result<NodeAnswer> ask_store(const Source& source, const Question& question) {
  auto store = open_store_of(source);
  if (!store) return Unexpected{std::move(store).error()};
  auto& reader = *store->reader;
  return as_node_answer(question.timeline ? ingress::timeline_answer(reader, question.customer,
                                                                     SequenceNr{question.after})
                                          : ingress::customer_answer(reader, question.customer));
}

Result<NodeAnswer> ask(const Source& source, const Question& question) {
  const bool on_store = source.node_url.empty() && !source.config_file.empty();
  return on_store ? ask_store(source, question) : ask_node(source, question);
}

/// Keeps the elements of a list whose `period` is the wanted one, if one is wanted.
void keep_period(json::object& body, json::string_view list, const std::string& period) {
  auto* value = body.if_contains(list);
  if (period.empty() || value == nullptr || !value->is_array()) return;
  json::array kept;
  for (const auto& element : value->as_array()) {
    const auto* object = element.if_object();
    const auto* data = object == nullptr ? nullptr : object->if_contains("data");
    if (data != nullptr && data->is_object()) object = &data->as_object();
    const auto* found = object == nullptr ? nullptr : object->if_contains("period");
    if (found != nullptr && found->is_string() && found->as_string() == json::string_view(period)) {
      kept.push_back(element);
    }
  }
  *value = std::move(kept);
}

void print_refunds(const json::value& obligation) {
  const auto* body = obligation.if_object();
  const auto* refunds = body == nullptr ? nullptr : body->if_contains("refunds");
  if (refunds == nullptr || !refunds->is_array()) return;
  for (const auto& element : refunds->as_array()) {
    const NodeAnswer refund{.status = 200, .text = "", .body = element};
    std::printf("  refund %-2s %-14s %18s  %s  %s\n", refund.text_at("number").c_str(),
                refund.text_at("status").c_str(),
                element.is_object() ? money_text(element.as_object()).c_str() : "?",
                refund.text_at("refund_id").c_str(), refund.text_at("why").c_str());
  }
}

void print_obligations(const json::object& body) {
  const auto* list = body.if_contains("obligations");
  if (list == nullptr || !list->is_array()) return;
  for (const auto& element : list->as_array()) {
    const NodeAnswer row{.status = 200, .text = "", .body = element};
    std::printf("%-10s %-14s %-15s %16s  attempt %s  %s\n", row.text_at("period").c_str(),
                row.text_at("purpose").c_str(), row.text_at("status").c_str(),
                element.is_object() ? money_text(element.as_object()).c_str() : "?",
                row.text_at("attempt").c_str(), row.text_at("verdict").c_str());
    print_refunds(element);
  }
}

void print_events(const json::object& body) {
  for (const auto& element : body.at("events").as_array()) {
    const NodeAnswer row{.status = 200, .text = "", .body = element};
    std::printf("%5s  %s  epoch %-4s %-22s %s\n", row.text_at("sequence_nr").c_str(),
                row.text_at("at").c_str(), row.text_at("epoch").c_str(),
                row.text_at("event").c_str(), row.text_at("data").c_str());
  }
}

void print_verdicts(const json::object& body) {
  for (const auto& element : body.at("verdicts").as_array()) {
    const NodeAnswer row{.status = 200, .text = "", .body = element};
    std::printf("verdict: %s %s: %s\n", row.text_at("period").c_str(),
                row.text_at("purpose").c_str(), row.text_at("verdict").c_str());
  }
}

ExitCode tell_quarantine(const NodeAnswer& answer) {
  const auto text = answer.text_at("quarantined");
  if (!text.empty()) std::fprintf(stderr, "quarantined: %s\n", text.c_str());
  return ExitCode::ok;
}

ExitCode print_timeline(const Source& source, Question question, const std::string& period) {
  while (true) {
    auto answer = ask(source, question);
    if (!answer) return report(answer.error());
    if (!answer->is_success() || !answer->body.is_object()) return tell_problem(source, *answer);
    auto& body = answer->body.as_object();
    keep_period(body, "events", period);
    keep_period(body, "verdicts", period);
    const auto next = answer->text_at("next_after");
    if (source.json) {
      for (const auto& event : body.at("events").as_array()) {
        std::printf("%s\n", json::serialize(event).c_str());
      }
    } else {
      print_events(body);
      if (next.empty()) print_verdicts(body);
    }
    const auto broken = answer->text_at("broken");
    if (!broken.empty()) {
      return report({ErrorCode::store_corrupt, "the history is damaged: " + broken});
    }
    if (next.empty()) return ExitCode::ok;
    question.after = std::stoull(next);
  }
}

}  // namespace

ExitCode customers_show(const Source& source, const std::string& customer,
                        const std::string& period) {
  auto id = parse_customer_id(customer);
  if (!id) return report(id.error());
  auto answer = ask(source, {.customer = *id});
  if (!answer) return report(answer.error());
  if (!answer->is_success() || !answer->body.is_object()) return tell_problem(source, *answer);
  auto& body = answer->body.as_object();
  keep_period(body, "obligations", period);
  if (source.json) {
    std::printf("%s\n", json::serialize(answer->body).c_str());
  } else {
    print_obligations(body);
  }
  if (!period.empty() && body.at("obligations").as_array().empty()) {
    return report({ErrorCode::not_found, "nothing is recorded for " + customer + " in " + period});
  }
  return tell_quarantine(*answer);
}

ExitCode customers_timeline(const Source& source, const std::string& customer,
                            const std::string& period) {
  auto id = parse_customer_id(customer);
  if (!id) return report(id.error());
  return print_timeline(source, {.customer = *id, .timeline = true}, period);
}

}  // namespace onceward::app
