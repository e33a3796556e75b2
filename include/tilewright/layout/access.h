// Every element that code outside isa/ reads or writes goes through here, so that the virtual GPU
// sees it. On a GPU these are plain loads and stores.
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"

namespace tw {

// Shared memory is reached by pointers (Shared), or by the 32-bit addresses that instructions take
// (Window: the own CTA's window of the cluster's shared memory).
enum class Space : unsigned { Global, Shared, Tensor, Register, Window };

#if TW_MODELLED
// Told of every access before it happens, of what is written, and whether what is read is wanted;
// null when nobody watches.
struct AccessObserver {
  void (*read)(Space space, const void* element, unsigned bytes, unsigned alignment, bool wanted);
  void (*write)(Space space, const void* element, const void* value, unsigned bytes,
                unsigned alignment);
};
inline thread_local const AccessObserver* access_observer = nullptr;
#endif

// Whoever reads without a branch, and then may not use the value, says that it is not wanted.
template <Space space, class T>
TW_HOST_DEVICE inline std::remove_const_t<T> load_element(T* element,
                                                          [[maybe_unused]] bool wanted = true) {
#if TW_MODELLED
  if (access_observer != nullptr) {
    access_observer->read(space, element, sizeof(T), alignof(T), wanted);
  }
#endif
  return *element;
}

template <Space space, class T>
TW_HOST_DEVICE inline void store_element(T* element, T value) {
#if TW_MODELLED
  if (access_observer != nullptr) {
    access_observer->write(space, element, &value, sizeof(T), alignof(T));
  }
#endif
  *element = value;
}

}  // namespace tw
