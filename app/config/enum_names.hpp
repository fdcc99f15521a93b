// How the enumerations of the configuration are spelled in files, environment and flags.
#pragma once

#include <array>
#include <string_view>

#include "app/config/config.hpp"

namespace onceward::app {

template <class E>
struct EnumName {
  std::string_view name;
  E value;
};

/// `entries`: every accepted spelling, one per value.
template <class E>
struct EnumNames;

template <>
struct EnumNames<StoreKind> {
  static constexpr std::array<EnumName<StoreKind>, 2> entries{
      {{"sqlite", StoreKind::sqlite}, {"postgres", StoreKind::postgres}}};
};
template <>
struct EnumNames<ProviderKind> {
  static constexpr std::array<EnumName<ProviderKind>, 2> entries{
      {{"stripe", ProviderKind::stripe}, {"simulator", ProviderKind::simulator}}};
};
template <>
struct EnumNames<Mode> {
  static constexpr std::array<EnumName<Mode>, 2> entries{
      {{"test", Mode::test}, {"live", Mode::live}}};
};
template <>
struct EnumNames<billing::Flow> {
  static constexpr std::array<EnumName<billing::Flow>, 3> entries{
      {{"payment_intents", billing::Flow::payment_intents},
       {"payment_intents_one_step", billing::Flow::payment_intents_one_step},
       {"charges", billing::Flow::charges}}};
};
template <>
struct EnumNames<billing::RebillAfterUnknown> {
  static constexpr std::array<EnumName<billing::RebillAfterUnknown>, 2> entries{
      {{"never", billing::RebillAfterUnknown::never}, {"ask", billing::RebillAfterUnknown::ask}}};
};
template <>
struct EnumNames<billing::BelowMinimum> {
  static constexpr std::array<EnumName<billing::BelowMinimum>, 2> entries{
      {{"waive", billing::BelowMinimum::waive}, {"hold", billing::BelowMinimum::hold}}};
};
template <>
struct EnumNames<billing::KeyScheme> {
  static constexpr std::array<EnumName<billing::KeyScheme>, 2> entries{
      {{"v1", billing::KeyScheme::v1}, {"colon", billing::KeyScheme::colon}}};
};
template <>
struct EnumNames<PeriodGranularity> {
  static constexpr std::array<EnumName<PeriodGranularity>, 5> entries{
      {{"monthly", PeriodGranularity::month},
       {"quarterly", PeriodGranularity::quarter},
       {"yearly", PeriodGranularity::year},
       {"weekly", PeriodGranularity::week},
       {"daily", PeriodGranularity::day}}};
};
template <>
struct EnumNames<CatchUp> {
  static constexpr std::array<EnumName<CatchUp>, 3> entries{
      {{"bill", CatchUp::bill}, {"hold", CatchUp::hold}, {"skip", CatchUp::skip}}};
};
template <>
struct EnumNames<billing::CapMode> {
  static constexpr std::array<EnumName<billing::CapMode>, 3> entries{
      {{"enforce", billing::CapMode::enforce},
       {"observe", billing::CapMode::observe},
       {"off", billing::CapMode::off}}};
};
template <>
struct EnumNames<Coordinator> {
  static constexpr std::array<EnumName<Coordinator>, 3> entries{
      {{"none", Coordinator::none},
       {"postgres", Coordinator::postgres},
       {"etcd", Coordinator::etcd}}};
};
template <>
struct EnumNames<LogFormat> {
  static constexpr std::array<EnumName<LogFormat>, 2> entries{
      {{"json", LogFormat::json}, {"text", LogFormat::text}}};
};
template <>
struct EnumNames<LogLevel> {
  static constexpr std::array<EnumName<LogLevel>, 4> entries{{{"debug", LogLevel::debug},
                                                              {"info", LogLevel::info},
                                                              {"warn", LogLevel::warn},
                                                              {"error", LogLevel::error}}};
};

}  // namespace onceward::app
