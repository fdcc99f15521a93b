// The classification table: which observation an HTTP answer is, and what each observation means
// for the money of its request. One file, rows as data; the functions only look rows up.
#include <onceward/provider/classification.hpp>

#include <algorithm>
#include <array>

namespace onceward::provider {

namespace {

// --- HTTP answer -> observation. First matching row wins; empty text matches anything. ---

struct AnswerRow {
  int status_first;
  int status_last;
  std::string_view error_type;
  std::string_view error_code;
  Observation observation;
};

constexpr std::array answer_rows = {
    AnswerRow{200, 299, "", "", Observation::object},
    AnswerRow{300, 399, "", "", Observation::redirect},
    AnswerRow{400, 400, "", "payment_intent_unexpected_state", Observation::unexpected_state},
    AnswerRow{400, 400, "idempotency_error", "", Observation::key_mismatch},
    AnswerRow{400, 400, "invalid_request_error", "", Observation::invalid_request},
    AnswerRow{401, 401, "", "", Observation::unauthorized},
    AnswerRow{402, 402, "card_error", "", Observation::declined},
    AnswerRow{403, 403, "", "", Observation::unauthorized},
    AnswerRow{404, 404, "", "", Observation::not_found},
    AnswerRow{409, 409, "", "idempotency_key_in_use", Observation::key_in_use},
    AnswerRow{429, 429, "", "lock_timeout", Observation::lock_timeout},
    AnswerRow{429, 429, "", "", Observation::rate_limited},
    // A 4xx that is none of the above is no refusal that we know: a hop between may have made it.
    AnswerRow{400, 499, "", "", Observation::other_client_error},
    AnswerRow{502, 504, "", "", Observation::gateway_error},
    // 500, and any status never seen: may be saved under the key and replayed.
    AnswerRow{0, 9999, "", "", Observation::server_error},
};

// --- Observation -> what it says. Order of the enumeration, checked below. ---
//
// `tainted` means that an earlier send of the same key may have executed. A refusal that the
// provider gives before it looks at the key (validation, credentials, limits) then says nothing
// about that earlier send, so its second column is `unknown`.

struct MeaningRow {
  Observation observation;
  Verdict first;
  Verdict tainted;
  /// The same key again would bring the saved answer, or the same refusal: look up instead.
  bool same_key_is_pointless;
};

constexpr std::array meaning_rows = {
    MeaningRow{Observation::object, Verdict::by_status, Verdict::by_status, true},
    MeaningRow{Observation::declined, Verdict::declined, Verdict::declined, true},
    MeaningRow{Observation::invalid_request, Verdict::rejected, Verdict::unknown, true},
    MeaningRow{Observation::unexpected_state, Verdict::look_up_first, Verdict::look_up_first, true},
    MeaningRow{Observation::key_mismatch, Verdict::unknown, Verdict::unknown, true},
    MeaningRow{Observation::unauthorized, Verdict::not_executed, Verdict::unknown, false},
    MeaningRow{Observation::not_found, Verdict::rejected, Verdict::unknown, true},
    MeaningRow{Observation::key_in_use, Verdict::unknown, Verdict::unknown, false},
    MeaningRow{Observation::rate_limited, Verdict::not_executed, Verdict::unknown, false},
    MeaningRow{Observation::lock_timeout, Verdict::not_executed, Verdict::unknown, false},
    MeaningRow{Observation::other_client_error, Verdict::unknown, Verdict::unknown, true},
    MeaningRow{Observation::server_error, Verdict::unknown, Verdict::unknown, true},
    MeaningRow{Observation::gateway_error, Verdict::unknown, Verdict::unknown, false},
    MeaningRow{Observation::redirect, Verdict::unknown, Verdict::unknown, true},
    MeaningRow{Observation::bad_body, Verdict::unknown, Verdict::unknown, true},
    MeaningRow{Observation::not_sent, Verdict::not_executed, Verdict::unknown, false},
    MeaningRow{Observation::broken, Verdict::unknown, Verdict::unknown, false},
};

constexpr bool meaning_rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < meaning_rows.size(); ++i) {
    if (static_cast<std::size_t>(meaning_rows[i].observation) != i) return false;
  }
  return meaning_rows.size() == static_cast<std::size_t>(Observation::broken) + 1;
}
static_assert(meaning_rows_follow_the_enumeration(), "one row per Observation, in its order");

const MeaningRow& meaning_of(Observation observation) noexcept {
  const auto index = static_cast<std::size_t>(observation);
  ONCEWARD_CHECK(index < meaning_rows.size(), "an Observation outside its enumerators");
  return meaning_rows[index];
}

// --- Decline codes. What is not listed is `later`: few, spaced tries. ---

struct BucketRow {
  std::string_view code;
  DeclineBucket bucket;
};

constexpr std::array bucket_rows = {
    BucketRow{"insufficient_funds", DeclineBucket::later},
    BucketRow{"processing_error", DeclineBucket::later},
    BucketRow{"issuer_not_available", DeclineBucket::later},
    BucketRow{"try_again_later", DeclineBucket::later},
    BucketRow{"reenter_transaction", DeclineBucket::later},
    BucketRow{"approve_with_id", DeclineBucket::later},
    BucketRow{"generic_decline", DeclineBucket::later},
    BucketRow{"do_not_honor", DeclineBucket::later},
    BucketRow{"card_velocity_exceeded", DeclineBucket::later},
    BucketRow{"authentication_required", DeclineBucket::customer_action},
    BucketRow{"expired_card", DeclineBucket::customer_action},
    BucketRow{"incorrect_cvc", DeclineBucket::customer_action},
    BucketRow{"invalid_expiry_month", DeclineBucket::customer_action},
    BucketRow{"invalid_expiry_year", DeclineBucket::customer_action},
    BucketRow{"incorrect_number", DeclineBucket::customer_action},
    BucketRow{"card_not_supported", DeclineBucket::customer_action},
    BucketRow{"currency_not_supported", DeclineBucket::customer_action},
    BucketRow{"lost_card", DeclineBucket::never},
    BucketRow{"stolen_card", DeclineBucket::never},
    BucketRow{"pickup_card", DeclineBucket::never},
    BucketRow{"revocation_of_authorization", DeclineBucket::never},
    BucketRow{"revocation_of_all_authorizations", DeclineBucket::never},
    BucketRow{"highest_risk_level", DeclineBucket::never},
    BucketRow{"transaction_not_allowed", DeclineBucket::never},
    BucketRow{"stop_payment_order", DeclineBucket::never},
};

const BucketRow* bucket_row(std::string_view code) noexcept {
  const auto row = std::find_if(bucket_rows.begin(), bucket_rows.end(),
                                [&](const BucketRow& r) { return r.code == code; });
  return row == bucket_rows.end() ? nullptr : &*row;
}

DeclineBucket bucket_of(std::string_view code) noexcept {
  const BucketRow* row = bucket_row(code);
  return row == nullptr ? DeclineBucket::later : row->bucket;
}

bool matches(const AnswerRow& row, int status, std::string_view type, std::string_view code) {
  return status >= row.status_first && status <= row.status_last &&
         (row.error_type.empty() || row.error_type == type) &&
         (row.error_code.empty() || row.error_code == code);
}

}  // namespace

Verdict verdict(Observation observation, bool tainted) noexcept {
  const MeaningRow& row = meaning_of(observation);
  return tainted ? row.tainted : row.first;
}

bool same_key_is_pointless(Observation observation) noexcept {
  return meaning_of(observation).same_key_is_pointless;
}

Observation observe(int http_status, std::string_view error_type,
                    std::string_view error_code) noexcept {
  for (const AnswerRow& row : answer_rows) {
    if (matches(row, http_status, error_type, error_code)) return row.observation;
  }
  return Observation::server_error;
}

DeclineBucket decline_bucket(std::string_view code, std::string_view decline_code) noexcept {
  // `code` is often just "card_declined"; whichever of the two forbids more decides.
  return std::max(bucket_of(code), bucket_of(decline_code));
}

// "card_declined" alone says nothing: the decline code does, if there is one.
bool is_listed_decline(std::string_view code, std::string_view decline_code) noexcept {
  if (!decline_code.empty()) return bucket_row(decline_code) != nullptr;
  return bucket_row(code) != nullptr || code == "card_declined";
}

}  // namespace onceward::provider
