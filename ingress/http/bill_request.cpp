// Body and header of a request to bill, checked member by member.
#include "ingress/http/bill_request.hpp"

#include <algorithm>

#include <onceward/core/digest.hpp>

#include "ingress/http/json_text.hpp"

namespace onceward::ingress {

namespace {

// The provider allows 50 entries of 40 and 500 characters; five names are ours.
constexpr std::size_t metadata_entries_max = 20;
constexpr std::size_t metadata_name_max = 40;
constexpr std::size_t metadata_value_max = 500;
constexpr std::string_view reserved_prefix = "onceward_";

Result<billing::Metadata> parse_metadata(const boost::json::object* object) {
  billing::Metadata metadata;
  if (object == nullptr) return metadata;
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "metadata " + why);
  };
  if (object->size() > metadata_entries_max) return refuse("may hold at most 20 entries");
  for (const auto& member : *object) {
    const std::string name(member.key().data(), member.key().size());
    const auto* value = member.value().if_string();
    if (value == nullptr) return refuse("value of " + quoted(name) + " must be a string");
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
      return c > ' ' && c <= '~' && c != '[' && c != ']';
    });
    if (name.empty() || name.size() > metadata_name_max || !is_plain) {
      return refuse("name " + quoted(name) +
                    " must be 1 to 40 visible ASCII characters without [ and ]");
    }
    if (name.rfind(reserved_prefix, 0) == 0) {
      return refuse("name " + quoted(name) + " begins with onceward_, which is reserved");
    }
    // An empty value means "remove" to the provider: what was frozen would not be what is stored.
    if (value->empty() || value->size() > metadata_value_max) {
      return refuse("value of " + quoted(name) + " must have 1 to 500 bytes");
    }
    metadata.emplace_back(name, std::string(value->data(), value->size()));
  }
  std::sort(metadata.begin(), metadata.end());
  return metadata;
}

std::string fingerprint_of(const BillRequest& request) {
  const std::string amount = std::to_string(request.amount.minor);
  std::vector<std::string_view> fields{"bill/v1",
                                       request.key.customer.value(),
                                       request.key.period.text(),
                                       request.key.purpose.value(),
                                       amount,
                                       request.amount.currency.text(),
                                       request.payment_method.value(),
                                       request.provider_customer.value()};
  for (const auto& [name, value] : request.metadata) {
    fields.emplace_back(name);
    fields.emplace_back(value);
  }
  return to_hex(sha256(netstrings(fields)));
}

/// The members of the body as they were written, before any of them is parsed.
struct BillBody {
  std::string customer;
  std::string period;
  std::int64_t amount_minor = 0;
  std::string currency;
  std::string payment_method;
  std::string provider_customer;
  std::string purpose;
  billing::Metadata metadata;
};

Result<BillBody> read_body(std::string_view text) {
  auto object = parse_json_object(text);
  if (!object) return Unexpected{std::move(object).error()};
  JsonMembers members(*object);
  BillBody body;
  body.customer = members.required_text("customer");
  body.period = members.required_text("period");
  body.amount_minor = members.required_integer("amount_minor");
  body.currency = members.required_text("currency");
  body.payment_method = members.required_text("payment_method");
  body.provider_customer = members.optional_text("provider_customer");
  body.purpose = members.optional_text("purpose");
  const auto* metadata = members.optional_object("metadata");
  if (auto finished = members.finish(); !finished) return Unexpected{finished.error()};
  auto parsed = parse_metadata(metadata);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  body.metadata = std::move(*parsed);
  return body;
}

/// Puts the name of the member in front of what its parser said.
template <class T>
Result<T> named(std::string_view name, Result<T> parsed) {
  if (parsed) return parsed;
  return fail(ErrorCode::invalid_argument, std::string(name) + ": " + parsed.error().context);
}

/// Parses one member into `out`; keeps the first failure.
class Fields {
 public:
  template <class T>
  void read(std::string_view name, Result<T> parsed, T& out) {
    if (failure_) return;
    auto result = named(name, std::move(parsed));
    if (result) {
      out = std::move(*result);
    } else {
      failure_ = result.error();
    }
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  std::optional<Error> failure_;
};

}  // namespace

Result<BillRequest> parse_bill_request(const platform::HttpRequest& http) {
  auto caller_key = parse_idempotency_key(http.headers);
  if (!caller_key) return Unexpected{std::move(caller_key).error()};
  auto body = read_body(http.body);
  if (!body) return Unexpected{std::move(body).error()};

  BillRequest request;
  request.caller_key = std::move(*caller_key);
  request.wait = parse_prefer_wait(http.headers);
  request.metadata = std::move(body->metadata);
  if (body->provider_customer.empty()) body->provider_customer = body->customer;
  Currency currency;
  Fields fields;
  fields.read("customer", parse_customer_id(body->customer), request.key.customer);
  fields.read("period", BillingPeriod::parse(body->period), request.key.period);
  fields.read("purpose", parse_purpose(body->purpose), request.key.purpose);
  fields.read("currency", Currency::parse(body->currency), currency);
  fields.read("amount_minor", parse_chargeable(body->amount_minor, currency), request.amount);
  fields.read("payment_method", parse_payment_method(body->payment_method), request.payment_method);
  fields.read("provider_customer", parse_provider_customer(body->provider_customer),
              request.provider_customer);
  if (fields.failure()) return Unexpected{*fields.failure()};
  request.fingerprint = fingerprint_of(request);
  return request;
}

bool is_test_method(const PaymentMethod& method) {
  return method.value().rfind("pm_card_", 0) == 0;
}

Error test_method_refused() {
  return {ErrorCode::invalid_argument,
          "payment_method: pm_card_... are test cards, and this node is live; give a real one"};
}

std::string caller_scope(std::string_view principal) {
  return "caller/" + std::string(principal);
}

billing::BillCustomer to_command(const BillRequest& request, std::string_view principal,
                                 Timestamp now) {
  billing::BillCustomer command;
  command.key = request.key;
  command.amount = request.amount;
  command.payment_method = request.payment_method;
  command.provider_customer = request.provider_customer;
  command.request_id = RequestId{request.caller_key};
  command.metadata = request.metadata;
  command.caller_mark = Mark{.scope = caller_scope(principal),
                             .key = request.caller_key,
                             .fingerprint = request.fingerprint,
                             .expires_at = now.plus(caller_key_life)};
  command.notify = request.wait.seconds > 0 ? billing::Notify::settled : billing::Notify::accepted;
  return command;
}

}  // namespace onceward::ingress
