// Two parts of a computation at once, of which each writes to memory of its own.
#pragma once
#include <system_error>
#include <thread>

namespace flexph {

// Run task(first) and task(second), the second one in a thread that ends with it if they are to run apart. Where the
// system has no thread to give they run one after the other, to the same numbers.
template <class Task, class Part> inline void run_both(Task task, Part &first, Part &second, bool apart) {
    std::thread other;
    if (apart) {
        try {
            other = std::thread([task, &second] { task(second); });
        } catch (const std::system_error &) {
        }
    }
    task(first);
    if (other.joinable()) other.join();
    else task(second);
}

}  // namespace flexph
