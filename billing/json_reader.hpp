// JsonReader: takes the members of an event from a parsed object, by name; defaults nothing.
// Private.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include <boost/json/object.hpp>

#include "billing/event_words.hpp"

namespace onceward::billing {

// Reads members by name; the first one that is missing or wrong is remembered, the rest skipped.
class JsonReader {
 public:
  explicit JsonReader(const boost::json::object& object) : object_(object) {}
  [[nodiscard]] const std::string& error() const { return error_; }

  template <class T>
  void operator()(std::string_view name, T& value) {
    if (!error_.empty()) return;
    const boost::json::value* member = object_.if_contains({name.data(), name.size()});
    if (member == nullptr || !read(*member, value)) {
      error_ = "member '" + std::string(name) +
               (member == nullptr ? "' is missing" : "' has the wrong type or value");
    }
  }

 private:
  using Value = boost::json::value;

  static bool read(const Value& json, std::string& text) {
    const auto* string = json.if_string();
    if (string != nullptr) text.assign(string->data(), string->size());
    return string != nullptr;
  }
  static bool read(const Value& json, std::int64_t& number) {
    const auto* integer = json.if_int64();
    if (integer != nullptr) number = *integer;
    return integer != nullptr;
  }
  static bool read(const Value& json, std::uint32_t& number) {
    std::int64_t wide = 0;
    if (!read(json, wide) || wide < 0 || wide > 0xffffffffLL) return false;
    number = static_cast<std::uint32_t>(wide);
    return true;
  }
  template <class Tag>
  static bool read(const Value& json, Strong<Tag, std::string>& id) {
    std::string text;
    if (!read(json, text)) return false;
    id = Strong<Tag, std::string>(std::move(text));
    return true;
  }
  template <class T>
  static bool take(Result<T> parsed, T& value) {
    if (!parsed) return false;
    value = std::move(*parsed);
    return true;
  }
  static bool read(const Value& json, BillingPeriod& period) {
    std::string text;
    return read(json, text) && take(BillingPeriod::parse(text), period);
  }
  static bool read(const Value& json, Timestamp& at) { return read(json, at.ms); }
  static bool read(const Value& json, Step& step) {
    std::string text;
    return read(json, text) && take(parse_step(text), step);
  }
  template <class E, std::size_t N>
  static bool read_name(const Value& json, const std::array<std::string_view, N>& all, E& value) {
    std::string text;
    if (!read(json, text)) return false;
    for (std::size_t i = 0; i < N; ++i) {
      if (all[i] != text) continue;
      value = static_cast<E>(i);
      return true;
    }
    return false;
  }
  static bool read(const Value& json, HintedKind& kind) {
    std::string text;
    return read(json, text) && take(parse_hinted_kind(text), kind);
  }
  static bool read(const Value& json, LookedUp& looked) {
    return read_name(json, looked_up_names, looked);
  }
  static bool read(const Value& json, BillingPending::Kind& kind) {
    return read_name(json, pending_names, kind);
  }
  static bool read(const Value& json, DunningPlan& plan) {
    return read_name(json, plan_names, plan);
  }
  static bool read(const Value& json, std::optional<Timestamp>& at) {
    at.reset();
    if (json.is_null()) return true;
    Timestamp present;
    if (!read(json, present)) return false;
    at = present;
    return true;
  }
  static bool read(const Value& json, Money& money) {
    const auto* object = json.if_object();
    if (object == nullptr) return false;
    std::string currency;
    JsonReader inner(*object);
    inner("amount_minor", money.minor);
    inner("currency", currency);
    return inner.error().empty() && take(Currency::parse(currency), money.currency);
  }
  static bool read(const Value& json, SentAt& sent) {
    const auto* object = json.if_object();
    if (object == nullptr) return false;
    std::string boot;
    JsonReader inner(*object);
    inner("wall", sent.wall);
    inner("boottime_ms", sent.boottime_ms);
    inner("boot", boot);
    inner("provider", sent.provider);
    const auto parsed = std::from_chars(boot.data(), boot.data() + boot.size(), sent.boot);
    return inner.error().empty() && parsed.ec == std::errc{} &&
           parsed.ptr == boot.data() + boot.size();
  }
  static bool read(const Value& json, Metadata& metadata) {
    const auto* object = json.if_object();
    if (object == nullptr) return false;
    metadata.clear();
    for (const auto& member : *object) {
      std::string value;
      if (!read(member.value(), value)) return false;
      metadata.emplace_back(std::string(member.key()), std::move(value));
    }
    return true;
  }

  const boost::json::object& object_;
  std::string error_;
};

}  // namespace onceward::billing
