// An epilogue in words, as `--epilogue` of a family takes them: bias,relu,residual.
#pragma once

#include <sstream>
#include <string>

#include "src/matmul/names.h"

namespace tw {

inline std::string epilogue_words(const EpilogueShape& epilogue) {
  std::string words;
  for (const auto& [name, present] : epilogue_switches) {
    if (epilogue.*present) words += std::string(",") + name;
  }
  if (epilogue.activation != Activation::None) {
    words += std::string(",") + name_of(epilogue.activation);
  }
  if (epilogue.beta != 0.0f) words += ",residual";
  return words.empty() ? words : words.substr(1);
}

namespace detail {

inline bool add_epilogue_word(EpilogueShape& epilogue, const std::string& word) {
  for (const auto& [name, present] : epilogue_switches) {
    if (word == name) return epilogue.*present = true;
  }
  for (const Activation activation : activations) {
    if (activation == Activation::Clamp || word != name_of(activation)) continue;
    epilogue.activation = activation;
    return true;
  }
  if (word == "residual") epilogue.beta = 1.0f;
  return word == "residual";
}

}  // namespace detail

// A sentence, or empty.
inline std::string read_epilogue(EpilogueShape& epilogue, const std::string& words) {
  std::stringstream given(words);
  for (std::string word; std::getline(given, word, ',');) {
    if (!detail::add_epilogue_word(epilogue, word)) {
      return "There is no epilogue '" + word + "' here.";
    }
  }
  return "";
}

}  // namespace tw
