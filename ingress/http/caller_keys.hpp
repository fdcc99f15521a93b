// Caller keys of requests inside the handler, and obligations with a command under way: what is
// known before anything is durable. Memory only; the marks in the store are what counts.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <onceward/core/obligation.hpp>

namespace onceward::ingress {

/// Thread-safe; must outlive its tickets.
class CallerKeys {
 public:
  /// Holds a key while its request is handled. Move-only; gives the key back when destroyed.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(CallerKeys& keys, std::string id) : keys_(&keys), id_(std::move(id)) {}
    Ticket(Ticket&& other) noexcept { *this = std::move(other); }
    Ticket& operator=(Ticket&& other) noexcept;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() { release(); }
    void release() noexcept;

   private:
    CallerKeys* keys_ = nullptr;
    std::string id_;
  };

  enum class Entry : std::uint8_t {
    entered,
    in_handler,     ///< the same key with the same payload is being handled
    other_payload,  ///< the same key with another payload is being handled
    full,           ///< as many requests as allowed are being handled
  };
  struct Entered {
    Entry entry = Entry::entered;
    Ticket ticket;  ///< holds the key if `entered`
  };

  explicit CallerKeys(std::size_t requests_max) : requests_max_(requests_max) {}
  [[nodiscard]] Entered enter(std::string_view scope, std::string_view key,
                              const std::string& fingerprint);
  [[nodiscard]] std::size_t size() const;

 private:
  const std::size_t requests_max_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> fingerprints_;  // guarded; by netstrings(scope, key)
};

/// Counts commands that were given to the runtime and not answered by it: while there is one, the
/// absence of a row proves nothing. Thread-safe.
class CommandsUnderWay {
 public:
  void add(const ObligationKey& key);
  void remove(const ObligationKey& key);
  [[nodiscard]] bool any(const ObligationKey& key) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::size_t> counts_;  // guarded
};

}  // namespace onceward::ingress
