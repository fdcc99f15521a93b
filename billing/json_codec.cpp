// Events as JSON text. Each event names its members once, in visit(); writing and reading both
// follow that list. Format: docs/event-format.md; pinned by golden files in tests.
#include <array>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parser.hpp>

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {

namespace {

// The members of each event, in stored order. `V` is Writer or Reader.
template <class V, class E>
void visit_subject(V& v, E& e) {
  v("period", e.of.period);
  v("purpose", e.of.purpose);
  v("at", e.at);
}

template <class V>
void visit(V& v, BillingInitiated& e) {
  visit_subject(v, e);
  v("amount", e.amount);
  v("payment_method", e.payment_method);
  v("provider_customer", e.provider_customer);
  v("request_id", e.request_id);
  v("metadata", e.metadata);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RequestStarted& e) {
  visit_subject(v, e);
  v("step", e.step);
  v("attempt", e.attempt);
  v("generation", e.generation);
  v("key", e.key);
  v("intent", e.intent);
  v("payment_method", e.payment_method);
  v("sent", e.sent);
  v("not_after_boottime_ms", e.not_after_boottime_ms);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, LookUpOwed& e) {
  visit_subject(v, e);
  v("cause", e.cause);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, LookUpAnswered& e) {
  visit_subject(v, e);
  v("found", e.found);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, CancelRequested& e) {
  visit_subject(v, e);
  v("who", e.who);
  v("why", e.why);
}
template <class V>
void visit(V& v, PaymentIntentCreated& e) {
  visit_subject(v, e);
  v("intent", e.intent);
}
template <class V>
void visit(V& v, PaymentIntentCanceled& e) {
  visit_subject(v, e);
  v("intent", e.intent);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, AttemptDeclined& e) {
  visit_subject(v, e);
  v("attempt", e.attempt);
  v("code", e.code);
  v("decline_code", e.decline_code);
  v("failure_charge", e.failure_charge);
  v("intent", e.intent);
  v("next_attempt_at", e.next_attempt_at);
}
template <class V>
void visit(V& v, RequestRejected& e) {
  visit_subject(v, e);
  v("key", e.key);
  v("observation", e.observation);
  v("code", e.code);
  v("message", e.message);
  v("retry_at", e.retry_at);
}
template <class V>
void visit(V& v, OutcomeUnknown& e) {
  visit_subject(v, e);
  v("key", e.key);
  v("observation", e.observation);
  v("code", e.code);
  v("looked_up", e.looked_up);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, BillingPending& e) {
  visit_subject(v, e);
  v("kind", e.kind);
  v("intent", e.intent);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, BillingCompleted& e) {
  visit_subject(v, e);
  v("charge_id", e.charge_id);
  v("intent", e.intent);
  v("attempt", e.attempt);
  v("alarm", e.alarm);
}
template <class V>
void visit(V& v, BillingCapped& e) {
  visit_subject(v, e);
  v("limit_minor", e.limit_minor);
  v("used_minor", e.used_minor);
}
template <class V>
void visit(V& v, OperatorActed& e) {
  visit_subject(v, e);
  v("action", e.action);
  v("who", e.who);
  v("why", e.why);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, EarlierSystemChecked& e) {
  visit_subject(v, e);
  v("listed", e.listed);
}
template <class V, class E>
void visit_reason(V& v, E& e) {
  visit_subject(v, e);
  v("reason", e.reason);
}
template <class V>
void visit(V& v, BillingUncollectible& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, BillingParked& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, BillingCancelled& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, PeriodWaived& e) {
  visit_reason(v, e);
}

// Stored names; order as in the variant. Names and versions are permanent.
constexpr std::array<std::string_view, std::variant_size_v<BillingEvent>> names = {
    "BillingInitiated",     "RequestStarted",        "LookUpOwed",       "CancelRequested",
    "PaymentIntentCreated", "PaymentIntentCanceled", "AttemptDeclined",  "RequestRejected",
    "OutcomeUnknown",       "BillingPending",        "BillingCompleted", "BillingUncollectible",
    "BillingParked",        "BillingCapped",         "BillingCancelled", "PeriodWaived",
    "OperatorActed",        "EarlierSystemChecked",  "LookUpAnswered"};
constexpr std::uint32_t version = 1;

constexpr std::array<std::string_view, 5> looked_up_names = {"nothing", "absent", "unpaid_same",
                                                             "failed", "too_early"};
constexpr std::array<std::string_view, 2> pending_names = {"processing", "action_required"};

// Appends one JSON object to a string; no intermediate tree.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) { out_.push_back('{'); }
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
  void write(LookedUp looked) { write_text(looked_up_names[static_cast<std::size_t>(looked)]); }
  void write(BillingPending::Kind kind) {
    write_text(pending_names[static_cast<std::size_t>(kind)]);
  }
  void write(const std::optional<Timestamp>& at) {
    if (at) {
      write(at->ms);
    } else {
      out_.append("null");
    }
  }
  void write(const Money& money) {
    Writer inner(out_);
    inner("amount_minor", money.minor);
    inner("currency", std::string(money.currency.text()));
    inner.finish();
  }
  void write(const SentAt& sent) {
    Writer inner(out_);
    inner("wall", sent.wall);
    inner("boottime_ms", sent.boottime_ms);
    // 64-bit identities do not survive readers with doubles: text.
    inner("boot", std::to_string(sent.boot));
    inner("provider", sent.provider);
    inner.finish();
  }
  void write(const Metadata& metadata) {
    Writer inner(out_);
    for (const auto& [name, value] : metadata) inner(name, value);
    inner.finish();
  }

  std::string& out_;
  bool first_ = true;
};

void Writer::write_text(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out_.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (byte < 0x20) {
      out_.append("\\u00");
      out_.push_back(hex[byte >> 4U]);
      out_.push_back(hex[byte & 0xfU]);
    } else {
      out_.push_back(c);
    }
  }
  out_.push_back('"');
}

// Reads members by name; the first one that is missing or wrong is remembered, the rest skipped.
class Reader {
 public:
  explicit Reader(const boost::json::object& object) : object_(object) {}
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
  static bool read(const Value& json, LookedUp& looked) {
    return read_name(json, looked_up_names, looked);
  }
  static bool read(const Value& json, BillingPending::Kind& kind) {
    return read_name(json, pending_names, kind);
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
    Reader inner(*object);
    inner("amount_minor", money.minor);
    inner("currency", currency);
    return inner.error().empty() && take(Currency::parse(currency), money.currency);
  }
  static bool read(const Value& json, SentAt& sent) {
    const auto* object = json.if_object();
    if (object == nullptr) return false;
    std::string boot;
    Reader inner(*object);
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

EncodedEvent encode(const BillingEvent& event) {
  EncodedEvent encoded;
  encoded.manifest = Manifest{std::string(names[event.index()]), version};
  encoded.payload.reserve(384);
  std::visit(
      [&encoded](const auto& e) {
        Writer writer(encoded.payload);
        // The visitor is shared with reading, which needs mutable members; writing changes none.
        visit(writer, const_cast<std::remove_cvref_t<decltype(e)>&>(e));
        writer.finish();
      },
      event);
  return encoded;
}

template <std::size_t I = 0>
Result<BillingEvent> decode_as(std::size_t index, const boost::json::object& object,
                               const Manifest& manifest) {
  if constexpr (I < std::variant_size_v<BillingEvent>) {
    if (index != I) return decode_as<I + 1>(index, object, manifest);
    std::variant_alternative_t<I, BillingEvent> event;
    Reader reader(object);
    visit(reader, event);
    if (!reader.error().empty()) {
      return fail(ErrorCode::decode_failed, "event " + manifest.name + ": " + reader.error());
    }
    return BillingEvent(std::move(event));
  } else {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name);
  }
}

Result<BillingEvent> decode(const EncodedEvent& encoded) {
  const Manifest& manifest = encoded.manifest;
  std::size_t index = 0;
  while (index < names.size() && names[index] != manifest.name) ++index;
  if (index == names.size() || manifest.version != version) {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name + " version " +
                                                 std::to_string(manifest.version) +
                                                 " is not known to this release");
  }
  std::array<unsigned char, 4096> buffer;  // NOLINT: filled by the parser
  boost::json::monotonic_resource memory(buffer.data(), buffer.size());
  boost::json::parser parser(&memory);
  boost::json::error_code failed;
  parser.write(encoded.payload.data(), encoded.payload.size(), failed);
  if (failed) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + ": " + failed.message());
  }
  const boost::json::value json = parser.release();
  const auto* object = json.if_object();
  if (object == nullptr) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + " is not a JSON object");
  }
  return decode_as(index, *object, manifest);
}

}  // namespace

EventCodec<BillingEvent> billing_event_codec() {
  return {&encode, &decode};
}

}  // namespace onceward::billing
