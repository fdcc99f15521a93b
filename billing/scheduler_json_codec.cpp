// Events of the scheduler as JSON text. Each event names its members once, in visit(); writing and
// reading both follow that list. Format: docs/runs.md; pinned by golden texts in the tests.
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <onceward/billing/scheduler_events.hpp>

namespace onceward::billing {

namespace {

namespace json = boost::json;

// The members of each stored struct, in stored order. `V` is Writer or Reader.
template <class V>
void visit(V& v, Money& m) {
  v("amount_minor", m.minor);
  v("currency", m.currency);
}
template <class V>
void visit(V& v, PlanPosition& p) {
  v("ordinal", p.ordinal);
  v("customer", p.customer);
  v("purpose", p.purpose);
}
template <class V>
void visit(V& v, ExceptionalRow& r) {
  v("row", r.row);
  v("outcome", r.outcome);
}
template <class V>
void visit(V& v, RunPlanned& e) {
  v("run", e.run);
  v("at", e.at);
  v("period", e.plan.period);
  v("plan", e.plan.plan);
  v("customers", e.plan.customers);
  v("to_bill", e.plan.to_bill);
  v("skipped", e.plan.skipped);
  v("totals", e.plan.totals);
}
template <class V>
void visit(V& v, RunStarted& e) {
  v("run", e.run);
  v("at", e.at);
  v("who", e.who);
  v("limits", e.limits);
}
template <class V>
void visit(V& v, CursorMoved& e) {
  v("run", e.run);
  v("at", e.at);
  v("cursor", e.cursor);
  v("watched_from", e.watched_from);
  v("exceptional", e.exceptional);
}
template <class V, class E>
void visit_act(V& v, E& e) {
  v("run", e.run);
  v("at", e.at);
  v("who", e.who);
  v("why", e.why);
}
template <class V>
void visit(V& v, RunPaused& e) {
  visit_act(v, e);
}
template <class V>
void visit(V& v, RunResumed& e) {
  visit_act(v, e);
}
template <class V>
void visit(V& v, RunCancelled& e) {
  visit_act(v, e);
}
template <class V>
void visit(V& v, RunCompleted& e) {
  v("run", e.run);
  v("at", e.at);
}

// Stored names; order as in the variant. Names and versions are permanent.
constexpr std::array<std::string_view, std::variant_size_v<SchedulerEvent>> names = {
    "RunPlanned", "RunStarted",   "CursorMoved", "RunPaused",
    "RunResumed", "RunCancelled", "RunCompleted"};
constexpr std::uint32_t version = 1;

class Writer {
 public:
  [[nodiscard]] json::object take() { return std::move(object_); }

  template <class T>
  void operator()(std::string_view name, const T& value) {
    object_.emplace(json::string_view(name.data(), name.size()), to_json(value));
  }

 private:
  static json::value to_json(const std::string& text) { return json::value(text); }
  static json::value to_json(std::int64_t number) { return json::value(number); }
  // Counts of rows stay below 2^32, so they are read back as signed integers.
  static json::value to_json(std::uint64_t number) {
    return json::value(static_cast<std::int64_t>(number));
  }
  static json::value to_json(Timestamp at) { return json::value(at.ms); }
  static json::value to_json(RunNr nr) { return json::value(std::int64_t{nr.value()}); }
  static json::value to_json(const BillingPeriod& period) { return json::value(period.text()); }
  static json::value to_json(const Currency& currency) {
    return json::value(std::string(currency.text()));
  }
  static json::value to_json(RunOutcome outcome) {
    return json::value(std::string(to_text(outcome)));
  }
  template <class Tag>
  static json::value to_json(const Strong<Tag, std::string>& id) {
    return json::value(id.value());
  }
  static json::value to_json(const std::map<std::string, std::uint64_t>& counts) {
    json::object object;
    for (const auto& [name, count] : counts) object.emplace(name, to_json(count));
    return object;
  }
  template <class T>
  static json::value to_json(const std::vector<T>& items) {
    json::array array;
    for (const T& item : items) array.push_back(to_json(item));
    return array;
  }
  template <class T>
  static json::value to_json(const T& members) {
    Writer inner;
    // The visitor is shared with reading, which needs mutable members; writing changes none.
    visit(inner, const_cast<T&>(members));
    return inner.take();
  }

  json::object object_;
};

// Reads members by name; the first one that is missing or wrong is remembered, the rest skipped.
class Reader {
 public:
  explicit Reader(const json::object& object) : object_(object) {}
  [[nodiscard]] const std::string& error() const { return error_; }

  template <class T>
  void operator()(std::string_view name, T& value) {
    if (!error_.empty()) return;
    const json::value* member = object_.if_contains({name.data(), name.size()});
    if (member == nullptr || !read(*member, value)) {
      error_ = "member '" + std::string(name) +
               (member == nullptr ? "' is missing" : "' has the wrong type or value");
    }
  }

 private:
  static bool read(const json::value& from, std::string& text) {
    const auto* string = from.if_string();
    if (string != nullptr) text.assign(string->data(), string->size());
    return string != nullptr;
  }
  static bool read(const json::value& from, std::int64_t& number) {
    const auto* integer = from.if_int64();
    if (integer != nullptr) number = *integer;
    return integer != nullptr;
  }
  static bool read(const json::value& from, std::uint64_t& number) {
    std::int64_t value = 0;
    if (!read(from, value) || value < 0) return false;
    number = static_cast<std::uint64_t>(value);
    return true;
  }
  static bool read(const json::value& from, RunNr& nr) {
    std::uint64_t value = 0;
    if (!read(from, value) || value > 0xffff'ffffULL) return false;
    nr = RunNr{static_cast<std::uint32_t>(value)};
    return true;
  }
  static bool read(const json::value& from, Timestamp& at) { return read(from, at.ms); }
  template <class Tag>
  static bool read(const json::value& from, Strong<Tag, std::string>& id) {
    std::string text;
    if (!read(from, text)) return false;
    id = Strong<Tag, std::string>(std::move(text));
    return true;
  }
  template <class T, class Parse>
  static bool read_by(Parse parse, const json::value& from, T& value) {
    std::string text;
    if (!read(from, text)) return false;
    auto parsed = parse(text);
    if (parsed) value = std::move(*parsed);
    return parsed.has_value();
  }
  static bool read(const json::value& from, BillingPeriod& period) {
    return read_by(&BillingPeriod::parse, from, period);
  }
  static bool read(const json::value& from, Currency& currency) {
    return read_by(&Currency::parse, from, currency);
  }
  static bool read(const json::value& from, RunOutcome& outcome) {
    return read_by(&parse_run_outcome, from, outcome);
  }
  static bool read(const json::value& from, std::map<std::string, std::uint64_t>& counts) {
    const auto* object = from.if_object();
    if (object == nullptr) return false;
    counts.clear();
    for (const auto& member : *object) {
      if (!read(member.value(), counts[std::string(member.key())])) return false;
    }
    return true;
  }
  template <class T>
  static bool read(const json::value& from, std::vector<T>& items) {
    const auto* array = from.if_array();
    if (array == nullptr) return false;
    items.assign(array->size(), T{});
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!read((*array)[i], items[i])) return false;
    }
    return true;
  }
  template <class T>
  static bool read(const json::value& from, T& members) {
    const auto* object = from.if_object();
    if (object == nullptr) return false;
    Reader inner(*object);
    visit(inner, members);
    return inner.error().empty();
  }

  const json::object& object_;
  std::string error_;
};

EncodedEvent encode(const SchedulerEvent& event) {
  json::object object = std::visit(
      [](const auto& e) {
        Writer writer;
        visit(writer, const_cast<std::remove_cvref_t<decltype(e)>&>(e));
        return writer.take();
      },
      event);
  const std::string_view name = names[event.index()];
  return {Manifest{std::string(name), version}, json::serialize(object)};
}

template <std::size_t I = 0>
Result<SchedulerEvent> decode_as(std::size_t index, const json::object& object) {
  if constexpr (I < std::variant_size_v<SchedulerEvent>) {
    if (index != I) return decode_as<I + 1>(index, object);
    std::variant_alternative_t<I, SchedulerEvent> event;
    Reader reader(object);
    visit(reader, event);
    if (reader.error().empty()) return SchedulerEvent(std::move(event));
    return fail(ErrorCode::decode_failed, "event " + std::string(names[I]) + ": " + reader.error());
  } else {
    check_failed("index", __FILE__, __LINE__, "the name of an event was found before");
  }
}

Result<SchedulerEvent> decode(const EncodedEvent& event) {
  std::size_t index = 0;
  while (index < names.size() && names[index] != event.manifest.name) ++index;
  if (index == names.size() || event.manifest.version != version) {
    return fail(ErrorCode::unknown_manifest, "event " + event.manifest.name + " version " +
                                                 std::to_string(event.manifest.version) +
                                                 " is not known to this release");
  }
  boost::system::error_code failed;
  const json::value parsed = json::parse(event.payload, failed);
  if (failed || !parsed.is_object()) {
    return fail(ErrorCode::decode_failed, "event " + event.manifest.name + " is no JSON object");
  }
  return decode_as(index, parsed.get_object());
}

}  // namespace

EventCodec<SchedulerEvent> scheduler_event_codec() {
  return {&encode, &decode};
}

}  // namespace onceward::billing
