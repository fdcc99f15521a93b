// KeyStore: the provider's memory of idempotency keys: what was first asked under a key, and what
// was answered. Only endpoints that began to execute are saved; the caller sees to that.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>

#include "provider/simulator/change_log.hpp"

namespace onceward::provider::simulator {

inline constexpr std::size_t key_length_max = 255;

struct KeyRecord {
  std::string key;
  std::string method;
  std::string path;
  std::string digest;  ///< of the decoded parameters
  Timestamp first_received;
  Timestamp expires_at;
  bool running = true;  ///< the first request is not answered yet
  bool saved = false;   ///< status and body are what it was, or will be, answered
  int status = 0;
  std::string body;
  std::string request_id;  ///< of the first request
  std::uint64_t replays = 0;
};

/// What a request that carries a key meets.
struct KeyIsFresh {};
struct KeyIsRunning {};
struct KeyIsSaved {
  const KeyRecord* record;
};
struct KeyDiffers {
  std::string message;
};
/// There is no room for one more: all known ones are still within their life.
struct KeyStoreIsFull {};
using KeyAnswer = std::variant<KeyIsFresh, KeyIsRunning, KeyIsSaved, KeyDiffers, KeyStoreIsFull>;

class KeyStore {
 public:
  KeyStore(std::chrono::hours life, std::size_t keys_max, ChangeLog& changes)
      : life_(life), keys_max_(keys_max), changes_(changes) {}

  /// Claims a fresh key for this request: it is running until finish().
  [[nodiscard]] KeyAnswer begin(const KeyRecord& request, Timestamp now);
  /// The endpoint has executed: this is the answer for as long as the key lives.
  void save(const std::string& key, int status, std::string body);
  /// The first request was answered, or its connection was given up.
  void finish(const std::string& key);

  /// One key, or all for an empty text, as if they had outlived their time. Running ones stay.
  void expire(std::string_view key);
  void clear();
  [[nodiscard]] Result<Unit> restore(std::string_view text);

  /// In order of first receipt. Expired ones stay, for inspection, until their room is needed or
  /// their key comes again.
  [[nodiscard]] const std::deque<KeyRecord>& all() const noexcept { return records_; }

 private:
  [[nodiscard]] KeyRecord* find(const std::string& key);
  /// Forgets expired ones at the front until there is room for one more; false when there is none.
  [[nodiscard]] bool make_room(Timestamp now);

  const std::chrono::hours life_;
  const std::size_t keys_max_;
  ChangeLog& changes_;
  std::deque<KeyRecord> records_;
  std::size_t forgotten_ = 0;                            ///< from the front of records_
  std::unordered_map<std::string, std::size_t> by_key_;  ///< place in records_, plus forgotten_
};

}  // namespace onceward::provider::simulator
