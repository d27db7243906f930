// Instructions of the processor that a program runs on.
#pragma once

namespace flexph {

inline bool has_avx2() {
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

} // namespace flexph
