// Recorded numbers: each operation writes down its operands and its derivatives by them, so that a sweep back through
// the record has the derivatives of a result by all numbers that it began with (reverse mode, exact to round-off).
#pragma once
#include "functions.hpp"
#include "views.hpp"
#include <type_traits>
#include <vector>

namespace flexph {

// Operation: one or two earlier entries, −1 for none, and the derivatives by them
struct Operation { int32_t first, second; double by_first, by_second; };
struct Chosen { int32_t own, first, second; double by_first, by_second; };
struct Record {
    std::vector<Operation> operations;
    std::vector<double> adjoint;
    std::vector<Chosen> chosen;  // operations that depend on some of the first numbers
    std::vector<char> depends;
    double doubt = 0.0;  // of differences of functions of a user
};
inline Record &records() { static thread_local Record own; return own; }
#if defined(_MSC_VER)
#define FLEXPH_THREAD thread_local
#else
#define FLEXPH_THREAD __thread  // without a test for its first use in each access
#endif
static FLEXPH_THREAD Record *current = nullptr;
FLEXPH_INLINE Record &record() { return *current; }

// A value and its place in the record, −1 for a constant: 16 bytes, those of a complex number
struct Recorded {
    double value;
    int64_t place;
    Recorded() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>> Recorded(T x) : value(double(x)), place(-1) {}
    Recorded(double x, int64_t at) : value(x), place(at) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>> explicit operator T() const { return T(value); }
};
static_assert(sizeof(Recorded) == 16, "cells of recorded numbers are those of complex ones");

FLEXPH_INLINE Recorded recorded(double value, const Recorded &a, double by) {
    if (a.place < 0 || by == 0.0) return Recorded(value, -1);
    auto &all = record().operations;
    all.push_back({int32_t(a.place), -1, by, 0.0});
    return Recorded(value, int64_t(all.size()) - 1);
}
FLEXPH_INLINE Recorded recorded(double value, const Recorded &a, double by_a, const Recorded &b, double by_b) {
    if (a.place < 0 || by_a == 0.0) return recorded(value, b, by_b);
    if (b.place < 0 || by_b == 0.0) return recorded(value, a, by_a);
    auto &all = record().operations;
    all.push_back({int32_t(a.place), int32_t(b.place), by_a, by_b});
    return Recorded(value, int64_t(all.size()) - 1);
}
FLEXPH_INLINE Recorded operator+(const Recorded &a, const Recorded &b) { return recorded(a.value + b.value, a, 1.0, b, 1.0); }
FLEXPH_INLINE Recorded operator-(const Recorded &a, const Recorded &b) { return recorded(a.value - b.value, a, 1.0, b, -1.0); }
FLEXPH_INLINE Recorded operator*(const Recorded &a, const Recorded &b) { return recorded(a.value * b.value, a, b.value, b, a.value); }
FLEXPH_INLINE Recorded operator/(const Recorded &a, const Recorded &b) {
    double ratio = a.value / b.value;
    return recorded(ratio, a, 1.0 / b.value, b, -ratio / b.value);
}
FLEXPH_INLINE Recorded operator-(const Recorded &a) { return recorded(-a.value, a, -1.0); }
FLEXPH_INLINE Recorded operator+(const Recorded &a) { return a; }
template <class T> using Arithmetic = std::enable_if_t<std::is_arithmetic<T>::value>;
#define FLEXPH_MIXED(op) \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE Recorded operator op(const Recorded &a, T b) { return a op Recorded(b); } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE Recorded operator op(T a, const Recorded &b) { return Recorded(a) op b; } \
    template <class T> FLEXPH_INLINE Recorded &operator op##=(Recorded &a, const T &b) { return a = a op b; }
FLEXPH_MIXED(+) FLEXPH_MIXED(-) FLEXPH_MIXED(*) FLEXPH_MIXED(/)
#undef FLEXPH_MIXED
#define FLEXPH_COMPARED(op) \
    FLEXPH_INLINE bool operator op(const Recorded &a, const Recorded &b) { return a.value op b.value; } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE bool operator op(const Recorded &a, T b) { return a.value op b; } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE bool operator op(T a, const Recorded &b) { return a op b.value; }
FLEXPH_COMPARED(<) FLEXPH_COMPARED(>) FLEXPH_COMPARED(<=) FLEXPH_COMPARED(>=) FLEXPH_COMPARED(==) FLEXPH_COMPARED(!=)
#undef FLEXPH_COMPARED

inline Recorded sqrt(const Recorded &a) { double y = std::sqrt(a.value); return recorded(y, a, y > 0.0 ? 0.5 / y : 0.0); }
inline Recorded fabs(const Recorded &a) { return recorded(std::fabs(a.value), a, a.value < 0.0 ? -1.0 : 1.0); }
inline Recorded sin(const Recorded &a) { return recorded(std::sin(a.value), a, std::cos(a.value)); }
inline Recorded cos(const Recorded &a) { return recorded(std::cos(a.value), a, -std::sin(a.value)); }
inline Recorded exp(const Recorded &a) { double y = std::exp(a.value); return recorded(y, a, y); }
inline Recorded expm1(const Recorded &a) { double y = std::expm1(a.value); return recorded(y, a, y + 1.0); }
inline Recorded log1p(const Recorded &a) { return recorded(std::log1p(a.value), a, 1.0 / (1.0 + a.value)); }
inline Recorded tanh(const Recorded &a) { double y = std::tanh(a.value); return recorded(y, a, 1.0 - y * y); }
inline Recorded atan(const Recorded &a) { return recorded(std::atan(a.value), a, 1.0 / (1.0 + a.value * a.value)); }
inline Recorded atan2(const Recorded &y, const Recorded &x) {
    double size = x.value * x.value + y.value * y.value;
    return recorded(std::atan2(y.value, x.value), y, x.value / size, x, -y.value / size);
}
inline Recorded pow(const Recorded &a, const Recorded &b) {
    double y = std::pow(a.value, b.value);
    return recorded(y, a, b.value * std::pow(a.value, b.value - 1.0), b, a.value > 0.0 ? y * std::log(a.value) : 0.0);
}
inline bool isfinite(const Recorded &a) { return std::isfinite(a.value); }

typedef Vector<Recorded> RVec; typedef Matrix<Recorded> RMat; typedef Tensor<Recorded> RTen;

FLEXPH_INLINE Recorded larger(const Recorded &a, const Recorded &b) { return b.value > a.value ? b : a; }
FLEXPH_INLINE Recorded smaller(const Recorded &a, const Recorded &b) { return b.value < a.value ? b : a; }
FLEXPH_INLINE Recorded divided(const Recorded &x, const Recorded &y) { return x / y; }
FLEXPH_INLINE Recorded real_part(const Recorded &x) { return x; }
FLEXPH_INLINE Recorded magnitude(const Recorded &x) { return fabs(x); }
template <class V> FLEXPH_INLINE void mix(const V &out, Size i, const Recorded &x, const V &A, const Recorded &y, const V &B, Size count) {
    for (Size k = i; k < i + padded(count); k++) out.p[k] = x * A.p[k] + y * B.p[k];
}
inline void add_product(const RMat &out, Size o, const Recorded &share, const RMat &A, Size a, const RMat &B, Size b,
        Size rows, Size inner, Size columns) {
    for (Size r = 0; r < rows; r++) for (Size k = 0; k < inner; k++) {
        const Recorded factor = share * A.p[a + r * A.shape[1] + k];
        for (Size j = 0; j < columns; j++) out.p[o + r * out.shape[1] + j] += factor * B.p[b + k * B.shape[1] + j];
    }
}
inline void combine(Size d, const RMat &out, Size i, const RMat &mean, const RMat &form, const RMat &val, Size first,
        Size last, Size shift, const RVec &u, const IVec &col) {
    const Size width = val.shape[1], count = d == 2 ? 3 : 13;
    for (Size k = 0; k < count; k++) {
        Recorded total = 0.0;
        for (Size j = 0; j < d; j++) total += mean.p[i * d + j] * form.p[j * width + k];
        for (Size e = first; e < last; e++) total += u.p[col.p[e]] * val.p[(e + shift) * width + k];
        out.p[i * width + k] = total;
    }
}
inline void combine_two(Size d, const RMat &out, const RMat &more, Size i, const RMat &mean, const RMat &form,
        const RMat &val, Size first, Size last, Size shift, const RVec &u, const RVec &du, const IVec &col) {
    combine(d, out, i, mean, form, val, first, last, shift, u, col);
    RMat second = form;
    second.p += d * val.shape[1];
    combine(d, more, i, mean, second, val, first, last, shift, du, col);
}

// Functions of a user, with derivatives by differences of sixth order; ``doubt`` is how far those of fourth order differ
template <class F> inline double slope(F function, double x) {
    const double h = 1e-3 * (std::fabs(x) > 1.0 ? std::fabs(x) : 1.0);
    const double one = function(x + h) - function(x - h), two = function(x + 2.0 * h) - function(x - 2.0 * h);
    const double three = function(x + 3.0 * h) - function(x - 3.0 * h);
    const double fine = (45.0 * one - 9.0 * two + three) / (60.0 * h), coarse = (8.0 * one - two) / (12.0 * h);
    const double size = (std::fabs(one) + std::fabs(two) + std::fabs(three)) / h;
    if (size > 0.0 && std::fabs(fine - coarse) / size > record().doubt) record().doubt = std::fabs(fine - coarse) / size;
    return fine;
}
inline Recorded call_real(Py_ssize_t address, const Recorded &x) {
    return recorded(call_real(address, x.value), x, slope([=](double t) { return call_real(address, t); }, x.value));
}
inline Recorded call_three(Py_ssize_t address, const Recorded &x, const Recorded &y, const Recorded &z) {
    const double a = x.value, b = y.value, c = z.value;
    Recorded first = recorded(call_three(address, a, b, c), x, slope([=](double t) { return call_three(address, t, b, c); }, a),
        y, slope([=](double t) { return call_three(address, a, t, c); }, b));
    return z.place < 0 ? first : recorded(first.value, first, 1.0, z, slope([=](double t) { return call_three(address, a, b, t); }, c));
}

// Begin a record with so many numbers as its first places
inline void begin_record(Size numbers) {
    current = &records();
    auto &all = record().operations;
    record().doubt = 0.0;
    all.clear();
    all.resize(numbers, Operation{-1, -1, 0.0, 0.0});
}
// Take a vector's numbers as the places of the record from ``first`` on
inline void place(const RVec &numbers, Size first) {
    for (Size i = 0; i < numbers.count(); i++) numbers.p[i].place = first + i;
}
// Take some of a vector's numbers, likewise
inline void place_some(const RVec &numbers, const IVec &which, Size first) {
    for (Size i = 0; i < which.count(); i++) numbers.p[which.p[i]].place = first + i;
}
inline void set_adjoints() { record().adjoint.assign(record().operations.size(), 0.0); }
// Add weights to the adjoints of as many results
inline void weigh(const RVec &results, const Vec &weights) {
    auto &own = record().adjoint;
    for (Size i = 0; i < weights.count(); i++) if (results.p[i].place >= 0) own[results.p[i].place] += weights.p[i];
}
// Go back through the record
inline void sweep() {
    auto &all = record().operations;
    double *own = record().adjoint.data();
    for (Size i = Size(all.size()) - 1; i >= 0; i--) {
        const double by = own[i];
        if (by == 0.0) continue;
        const Operation &one = all[i];
        if (one.first >= 0) own[one.first] += by * one.by_first;
        if (one.second >= 0) own[one.second] += by * one.by_second;
    }
}
// Write the adjoints of the numbers from ``first`` on, or add them
inline void adjoints(Size first, const Vec &out) {
    for (Size i = 0; i < out.count(); i++) out.p[i] = record().adjoint[first + i];
}
inline void add_adjoints(Size first, const Vec &out) {
    for (Size i = 0; i < out.count(); i++) out.p[i] += record().adjoint[first + i];
}
// Choose the operations that depend on the numbers from ``first`` to ``end``, for sweeps that need no others
inline void choose(Size first, Size end) {
    auto &own = record();
    const Size count = Size(own.operations.size());
    own.depends.assign(count, 0);
    own.chosen.clear();
    for (Size i = first; i < end; i++) own.depends[i] = 1;
    for (Size i = end; i < count; i++) {
        const Operation &one = own.operations[i];
        const bool by_first = one.first >= 0 && own.depends[one.first], by_second = one.second >= 0 && own.depends[one.second];
        if (!by_first && !by_second) continue;
        own.depends[i] = 1;
        own.chosen.push_back({int32_t(i), by_first ? one.first : int32_t(i), by_second ? one.second : int32_t(i),
            by_first ? one.by_first : 0.0, by_second ? one.by_second : 0.0});
    }
    set_adjoints();
}
inline void weigh_chosen(const RVec &results, const Vec &weights) {
    auto &own = record();
    for (Size i = 0; i < weights.count(); i++) {
        const int64_t at = results.p[i].place;
        if (at >= 0 && own.depends[at]) own.adjoint[at] += weights.p[i];
    }
}
// Go back through the chosen operations, and take the adjoints of the numbers from ``first`` on
inline void sweep_chosen(Size first, const Vec &out) {
    auto &record_ = record();
    double *own = record_.adjoint.data();
    for (auto one = record_.chosen.rbegin(); one != record_.chosen.rend(); ++one) {
        const double by = own[one->own];
        own[one->own] = 0.0;
        own[one->first] += by * one->by_first;
        own[one->second] += by * one->by_second;
    }
    for (Size i = 0; i < out.count(); i++) { out.p[i] = own[first + i]; own[first + i] = 0.0; }
}
inline double doubt() { return record().doubt; }
inline Size operations() { return Size(record().operations.size()); }

}  // namespace flexph
