// SPDX-License-Identifier: Apache-2.0
// Included in front of every source that tools/mutate compiles. All mutants of a build are in it,
// and the environment variable SUEDE_MUTANT names the one that is on, so that all mutants cost one
// build. Without it the program is the original. SUEDE_MUTANTS_REACHED names a file to which the
// program appends the numbers of the mutants that it came past.
#ifndef SUEDE_TOOLS_MUTANT_H_
#define SUEDE_TOOLS_MUTANT_H_
#ifdef __cplusplus

#include <cstdio>
#include <cstdlib>

namespace suede_mutant {

struct State {
  static constexpr int kMaxMutants = 1 << 16;

  State() {
    const char* chosen_number = std::getenv("SUEDE_MUTANT");
    if (chosen_number != nullptr) chosen = std::atoi(chosen_number);
    file = std::getenv("SUEDE_MUTANTS_REACHED");
    if (file != nullptr) std::atexit(Report);
  }
  static void Report();

  int chosen = -1;
  const char* file = nullptr;
  bool reached[kMaxMutants] = {};
};

inline State state;

inline void State::Report() {
  std::FILE* out = std::fopen(state.file, "a");
  if (out == nullptr) return;
  for (int n = 0; n < kMaxMutants; ++n) {
    if (state.reached[n]) std::fprintf(out, "%d\n", n);
  }
  std::fclose(out);
}

inline bool IsOn(int n) {
  if (state.file != nullptr) state.reached[n] = true;
  return state.chosen == n;
}

inline void NotConstant() {}

// True while mutant `n` is on. No constant expression: a mutant that the compiler would decide does
// not compile.
constexpr bool On(int n) {
  if (!__builtin_is_constant_evaluated()) return IsOn(n);
  if (n >= 0) NotConstant();
  return false;
}

constexpr int Add(int n) { return On(n) ? 1 : 0; }

// `a < Less(n) < b` is `a < b`, or `a <= b` while mutant `n` is on; the others likewise. The
// precedence is the original's.
#define SUEDE_MUTANT_OPERATOR(Name, op, other)                            \
  struct Name {                                                           \
    int n;                                                                \
    constexpr explicit Name(int number) : n(number) {}                    \
  };                                                                      \
  template <class T>                                                      \
  struct Left##Name {                                                     \
    const T& value;                                                       \
    int n;                                                                \
  };                                                                      \
  template <class T>                                                      \
  constexpr Left##Name<T> operator op(const T& value, Name name) {        \
    return {value, name.n};                                               \
  }                                                                       \
  template <class T, class U>                                             \
  constexpr auto operator op(Left##Name<T> left, const U& right) {        \
    return On(left.n) ? (left.value other right) : (left.value op right); \
  }

SUEDE_MUTANT_OPERATOR(Less, <, <=)
SUEDE_MUTANT_OPERATOR(LessEqual, <=, <)
SUEDE_MUTANT_OPERATOR(Greater, >, >=)
SUEDE_MUTANT_OPERATOR(GreaterEqual, >=, >)
SUEDE_MUTANT_OPERATOR(Equal, ==, !=)
SUEDE_MUTANT_OPERATOR(NotEqual, !=, ==)
SUEDE_MUTANT_OPERATOR(Plus, +, -)
SUEDE_MUTANT_OPERATOR(Minus, -, +)
#undef SUEDE_MUTANT_OPERATOR

}  // namespace suede_mutant

#endif
#endif  // SUEDE_TOOLS_MUTANT_H_
