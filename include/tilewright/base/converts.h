// std::convertible_to for contracts of device code: clang rejects the standard one there, because
// it asks by a function of the host.
#pragma once

#include <type_traits>

namespace tw {

template <class From, class To>
concept ConvertsTo = std::is_convertible_v<From, To>;

}  // namespace tw
