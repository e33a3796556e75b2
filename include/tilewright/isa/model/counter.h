// What the virtual GPU must implement for isa/ptx/counter.h. Waits sleep until the count is
// reached.
#pragma once

#include "tilewright/isa/model.h"

#if TW_MODELLED
namespace tw::model {

void counter_init(SharedAddress counter);
void counter_add_release(SharedAddress counter, unsigned value);
void counter_wait_at_least(SharedAddress counter, unsigned target);

void global_add_release(std::uint32_t* counter, unsigned value);
void global_store_release(std::uint32_t* counter, unsigned value);
void global_wait_at_least(const std::uint32_t* counter, unsigned target);
std::uint32_t global_fetch_add(std::uint32_t* counter, unsigned value);
void global_atomic_max(std::uint32_t* maximum, std::uint32_t value);

}  // namespace tw::model
#endif
