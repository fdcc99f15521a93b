// JsonWriter: appends the members of an event to a text, without an intermediate tree. Private.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <type_traits>

#include "billing/event_words.hpp"

namespace onceward::billing {

// Appends one JSON object to a string; no intermediate tree.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) { out_.push_back('{'); }
  void finish() { out_.push_back('}'); }

  template <class T>
  void operator()(std::string_view name, const T& value) {
    if (!first_) out_.push_back(',');
    first_ = false;
    out_.push_back('"');
    out_.append(name);
    out_.append("\":");
    write(value);
  }

 private:
  void write(const std::string& text) { write_text(text); }
  void write_text(std::string_view text);
  template <class I>
  requires std::is_integral_v<I>
  void write(I number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out_.append(digits.data(), end.ptr);
  }
  template <class Tag>
  void write(const Strong<Tag, std::string>& id) {
    write_text(id.value());
  }
  void write(const BillingPeriod& period) { write_text(period.text()); }
  void write(Timestamp at) { write(at.ms); }
  void write(Step step) { write_text(to_text(step)); }
  void write(HintedKind kind) { write_text(to_text(kind)); }
  void write(LookedUp looked) { write_text(looked_up_names[static_cast<std::size_t>(looked)]); }
  void write(BillingPending::Kind kind) {
    write_text(pending_names[static_cast<std::size_t>(kind)]);
  }
  void write(DunningPlan plan) { write_text(plan_names[static_cast<std::size_t>(plan)]); }
  void write(const std::optional<Timestamp>& at) {
    if (at) {
      write(at->ms);
    } else {
      out_.append("null");
    }
  }
  void write(const Money& money) {
    JsonWriter inner(out_);
    inner("amount_minor", money.minor);
    inner("currency", std::string(money.currency.text()));
    inner.finish();
  }
  void write(const SentAt& sent) {
    JsonWriter inner(out_);
    inner("wall", sent.wall);
    inner("boottime_ms", sent.boottime_ms);
    // 64-bit identities do not survive readers with doubles: text.
    inner("boot", std::to_string(sent.boot));
    inner("provider", sent.provider);
    inner.finish();
  }
  void write(const Metadata& metadata) {
    JsonWriter inner(out_);
    for (const auto& [name, value] : metadata) inner(name, value);
    inner.finish();
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace onceward::billing
