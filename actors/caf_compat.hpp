// The one place that knows CAF 0.17.6 from CAF 1.x: message declarations, sending, configuration.
// Everything else in this module uses only what both lines have. Versions in between and 2.x are
// refused by FindCAF.cmake.
#pragma once

#include <cstddef>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

// CAF 1.1.0 defines CAF_VERSION as an octal number and 0.17.6 has no CAF_VERSION_MAJOR, so only
// the latter macro tells the lines apart.
#ifdef CAF_VERSION_MAJOR
#define ONCEWARD_CAF_1 1
#include <caf/anon_mail.hpp>
#include <caf/init_global_meta_objects.hpp>
#include <caf/type_id.hpp>
#else
#define ONCEWARD_CAF_1 0
#include <caf/atom.hpp>
#endif

namespace onceward::actors {
struct EntityMail;
struct RouterMail;
struct WriterMail;
struct ReaderMail;
}  // namespace onceward::actors

// One message type per kind of actor; none of them ever leaves the process ("unsafe" is CAF's word
// for messages without a wire format).
#if ONCEWARD_CAF_1
CAF_BEGIN_TYPE_ID_BLOCK(onceward_mail, first_custom_type_id)
CAF_ADD_TYPE_ID(onceward_mail, (onceward::actors::EntityMail))
CAF_ADD_TYPE_ID(onceward_mail, (onceward::actors::RouterMail))
CAF_ADD_TYPE_ID(onceward_mail, (onceward::actors::WriterMail))
CAF_ADD_TYPE_ID(onceward_mail, (onceward::actors::ReaderMail))
CAF_END_TYPE_ID_BLOCK(onceward_mail)
#endif
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(onceward::actors::EntityMail)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(onceward::actors::RouterMail)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(onceward::actors::WriterMail)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(onceward::actors::ReaderMail)

namespace onceward::actors {

/// Sends without sender, from any thread; never blocks. To a finished actor: the mail is destroyed
/// at once, and with it whatever token it carries.
template <class MailType>
void post(const caf::actor& to, MailType&& mail) {
#if ONCEWARD_CAF_1
  caf::anon_mail(std::forward<MailType>(mail)).send(to);
#else
  caf::anon_send(to, std::forward<MailType>(mail));
#endif
}

/// Once per process before the first actor system; more often does no harm.
inline void register_mail_types() {
#if ONCEWARD_CAF_1
  caf::init_global_meta_objects<caf::id_block::onceward_mail>();
  caf::core::init_global_meta_objects();
#endif
}

/// `sharing`: idle workers cost nothing (stealing polls). The number of workers is always explicit:
/// 0.17.6 takes at least four and knows no limits of containers.
inline void configure(caf::actor_system_config& config, std::size_t worker_threads) {
#if ONCEWARD_CAF_1
  config.set("caf.scheduler.policy", "sharing");
  config.set("caf.scheduler.max-threads", worker_threads);
#else
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", worker_threads);
#endif
}

}  // namespace onceward::actors
