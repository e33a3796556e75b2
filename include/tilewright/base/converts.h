// What std::convertible_to says, for contracts of device code: clang rejects that one there,
// because it asks by a function of the host.
#pragma once

#include <type_traits>

namespace tw {

template <class From, class To>
concept ConvertsTo = std::is_convertible_v<From, To>;

}  // namespace tw
