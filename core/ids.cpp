// Parsers of foreign text into identifiers. Messages name the offending byte and its place, never
// the text itself, so that no foreign bytes reach a log.
#include <onceward/core/ids.hpp>

#include "core/text.hpp"

namespace onceward {
namespace {

constexpr std::size_t customer_id_length_max = 128;
constexpr std::size_t visible_length_max = 255;
constexpr std::size_t purpose_length_max = 40;
constexpr std::size_t label_length_max = 64;
constexpr std::string_view customer_prefix = "customer/";
constexpr std::string_view scheduler_prefix = "scheduler/";
constexpr std::string_view inbox_prefix = "inbox/";

constexpr bool is_visible(char c) {
  return c >= '!' && c <= '~';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_purpose_rest(char c) {
  return is_lower(c) || text::is_digit(c) || c == '_' || c == '-';
}
constexpr bool is_label_first(char c) {
  return is_lower(c) || text::is_digit(c);
}
constexpr bool is_label_rest(char c) {
  return is_purpose_rest(c) || c == '.';
}

static_assert(!is_visible(' ') && !is_visible('\x7f') && !is_visible('\0') && !is_visible('\xc3'));

struct Alphabet {
  std::string_view name;     // of the id, for messages
  std::string_view allowed;  // in words, for messages
  std::size_t length_max;
  bool (*is_first)(char);
  bool (*is_rest)(char);
};

constexpr Alphabet customer_alphabet = {"customer id", "visible ASCII characters (no blank)",
                                        customer_id_length_max, is_visible, is_visible};
constexpr Alphabet provider_customer_alphabet = {"provider customer",
                                                 "visible ASCII characters (no blank)",
                                                 customer_id_length_max, is_visible, is_visible};
constexpr Alphabet request_alphabet = {"request id", "visible ASCII characters (no blank)",
                                       visible_length_max, is_visible, is_visible};
constexpr Alphabet payment_method_alphabet = {"payment method",
                                              "visible ASCII characters (no blank)",
                                              visible_length_max, is_visible, is_visible};
constexpr Alphabet object_alphabet = {"object id", "visible ASCII characters (no blank)",
                                      customer_id_length_max, is_visible, is_visible};
constexpr Alphabet purpose_alphabet = {"purpose", "a-z, then a-z 0-9 _ -", purpose_length_max,
                                       is_lower, is_purpose_rest};
constexpr Alphabet namespace_alphabet = {"namespace", "a-z 0-9, then a-z 0-9 _ . -",
                                         label_length_max, is_label_first, is_label_rest};
constexpr Alphabet account_alphabet = {"account label", "a-z 0-9, then a-z 0-9 _ . -",
                                       label_length_max, is_label_first, is_label_rest};

Unexpected refuse(const Alphabet& alphabet, const std::string& what) {
  return fail(ErrorCode::invalid_argument,
              std::string(alphabet.name) + " " + what + ": give 1 to " +
                  std::to_string(alphabet.length_max) + " of " + std::string(alphabet.allowed));
}

template <class Id>
Result<Id> parse_id(const Alphabet& alphabet, std::string_view text) {
  if (text.empty()) return refuse(alphabet, "is empty");
  if (text.size() > alphabet.length_max) {
    return refuse(alphabet, "has " + std::to_string(text.size()) + " bytes");
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_allowed = at == 0 ? alphabet.is_first(text[at]) : alphabet.is_rest(text[at]);
    if (!is_allowed) {
      return refuse(alphabet, "has byte " + text::byte_name(text[at]) + " at position " +
                                  std::to_string(at + 1));
    }
  }
  return Id(std::string(text));
}

}  // namespace

std::string_view to_text(Mode mode) noexcept {
  switch (mode) {
    case Mode::test:
      return "test";
    case Mode::live:
      return "live";
  }
  check_failed("mode", __FILE__, __LINE__, "a Mode is test or live");
}

Result<Mode> parse_mode(std::string_view text) {
  if (text == "test") return Mode::test;
  if (text == "live") return Mode::live;
  return fail(ErrorCode::invalid_argument,
              "mode " + text::quoted(text) + " is unknown: give test or live");
}

Result<CustomerId> parse_customer_id(std::string_view text) {
  return parse_id<CustomerId>(customer_alphabet, text);
}

Result<ProviderCustomer> parse_provider_customer(std::string_view text) {
  return parse_id<ProviderCustomer>(provider_customer_alphabet, text);
}

Result<Purpose> parse_purpose(std::string_view text) {
  if (text.empty()) text = "subscription";
  return parse_id<Purpose>(purpose_alphabet, text);
}

Result<Namespace> parse_namespace(std::string_view text) {
  return parse_id<Namespace>(namespace_alphabet, text);
}

Result<AccountLabel> parse_account_label(std::string_view text) {
  return parse_id<AccountLabel>(account_alphabet, text);
}

Result<RequestId> parse_request_id(std::string_view text) {
  return parse_id<RequestId>(request_alphabet, text);
}

Result<PaymentMethod> parse_payment_method(std::string_view text) {
  return parse_id<PaymentMethod>(payment_method_alphabet, text);
}

PersistenceId customer_persistence_id(const CustomerId& customer) {
  return PersistenceId(std::string(customer_prefix) + customer.value());
}

PersistenceId scheduler_persistence_id(std::string_view cycle) {
  return PersistenceId(std::string(scheduler_prefix) + std::string(cycle));
}

Result<PersistenceId> inbox_persistence_id(std::string_view object) {
  auto parsed = parse_id<RequestId>(object_alphabet, object);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  return PersistenceId(std::string(inbox_prefix) + parsed->value());
}

Result<std::string> inbox_object_of(const PersistenceId& id) {
  const std::string_view text = id.value();
  if (text.starts_with(inbox_prefix)) {
    auto object = parse_id<RequestId>(object_alphabet, text.substr(inbox_prefix.size()));
    if (object) return object->value();
  }
  return fail(ErrorCode::not_found,
              "persistence id " + text::quoted(text) + " is not an object of the inbox");
}

Result<CustomerId> customer_of(const PersistenceId& id) {
  const std::string_view text = id.value();
  if (text.starts_with(customer_prefix)) {
    auto customer = parse_customer_id(text.substr(customer_prefix.size()));
    if (customer.has_value()) return customer;
  }
  return fail(ErrorCode::not_found,
              "persistence id " + text::quoted(text) + " is not a customer's history");
}

}  // namespace onceward
