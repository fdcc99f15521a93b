// ApiClient: drives a SimulatedProvider without sockets, in virtual time, and reads its answers.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <onceward/provider/simulator/simulated_provider.hpp>

namespace onceward::test {

namespace sim = onceward::provider::simulator;

inline boost::json::value parse_json(const std::string& text) {
  boost::system::error_code error;
  return boost::json::parse(text, error);
}

/// Value at a path such as "error.code" or "data.0.id" as text; "" when absent or null.
inline std::string at(const boost::json::value& value, std::string_view path) {
  const boost::json::value* here = &value;
  while (here != nullptr && !path.empty()) {
    const std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(step.size() + 1, path.size()));
    if (const auto* object = here->if_object()) {
      here = object->if_contains(step);
    } else if (const auto* array = here->if_array()) {
      const auto index = static_cast<std::size_t>(std::stoul(std::string(step)));
      here = index < array->size() ? &(*array)[index] : nullptr;
    } else {
      here = nullptr;
    }
  }
  if (here == nullptr || here->is_null()) return {};
  if (const auto* text = here->if_string()) return {text->data(), text->size()};
  return boost::json::serialize(*here);
}

struct Answered {
  sim::WireAnswer wire;

  [[nodiscard]] int status() const { return wire.status; }
  [[nodiscard]] boost::json::value json() const { return parse_json(wire.body); }
  [[nodiscard]] std::string at(std::string_view path) const { return test::at(json(), path); }
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& [known, value] : wire.headers) {
      if (known == name) return value;
    }
    return {};
  }
};

inline constexpr std::string_view form_type = "application/x-www-form-urlencoded";

class ApiClient {
 public:
  explicit ApiClient(sim::SimulatorSettings settings = {}) : provider(settings) {}

  sim::WireHeaders headers(const std::string& key) const {
    sim::WireHeaders made = {{"Authorization", "Bearer sk_test_1"},
                             {"Content-Type", std::string(form_type)}};
    if (!key.empty()) made.emplace_back("Idempotency-Key", key);
    return made;
  }
  sim::RequestNr begin(const sim::WireRequest& request) { return provider.receive(request, now); }
  sim::RequestNr begin_post(const std::string& path, const std::string& form,
                            const std::string& key = "") {
    return begin({"POST", path, "", headers(key), form, 1, 1});
  }
  /// The answer of a begun request, if it is there by now.
  std::optional<Answered> answer(sim::RequestNr nr) {
    provider.advance(now);
    for (auto& finished : provider.take_finished()) {
      finished_.emplace(finished.nr, std::move(finished.answer));
    }
    const auto found = finished_.find(nr);
    if (found == finished_.end()) return std::nullopt;
    return Answered{found->second};
  }
  /// Lets time pass until the answer is there.
  Answered wait(sim::RequestNr nr) {
    for (;;) {
      if (auto answered = answer(nr)) return *std::move(answered);
      now = provider.next_due().value();
    }
  }
  Answered ask(const sim::WireRequest& request) { return wait(begin(request)); }
  Answered post(const std::string& path, const std::string& form, const std::string& key = "") {
    return wait(begin_post(path, form, key));
  }
  Answered get(const std::string& path, const std::string& query = "") {
    return ask({"GET", path, query, headers(""), "", 1, 1});
  }
  Answered control(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::string& query = "") {
    return ask({method, path, query, {}, body, 1, 1});
  }
  void faults(std::string_view json) {
    const auto set = provider.set_faults(json);
    if (!set) throw std::runtime_error(set.error().context);
  }
  void pass(std::chrono::milliseconds time) { now = now.plus(time); }

  sim::SimulatedProvider provider;
  Timestamp now{1'788'220'800'000};  // 2026-09-01T00:00:00Z

 private:
  std::map<sim::RequestNr, sim::WireAnswer> finished_;
};

inline const std::string charge_form =
    "amount=4990&currency=usd&customer=cus_9&source=tok_visa"
    "&metadata[onceward_namespace]=acme&metadata[onceward_customer]=cust_123"
    "&metadata[onceward_period]=2026-08&metadata[onceward_purpose]=subscription";
inline const std::string intent_form =
    "amount=4990&currency=usd&customer=cus_9&payment_method=pm_card_visa"
    "&metadata[onceward_namespace]=acme&metadata[onceward_customer]=cust_123"
    "&metadata[onceward_period]=2026-08&metadata[onceward_purpose]=subscription";

}  // namespace onceward::test
