// Recorded numbers: each operation is written down with its operands, and each comparison with its outcome, so that a
// program (program.hpp) computes the results and their derivatives again at other numbers.
#pragma once
#include "functions.hpp"
#include "program.hpp"
#include "views.hpp"
#include <type_traits>
#include <vector>

namespace flexph {

struct Record {
    std::vector<Operation> operations;  // the first ones are one and the given numbers
    std::vector<Guard> guards;
    std::vector<Source> sources;
    bool is_converted = false;  // a number has become a plain one, so that the program serves no other numbers
    std::vector<Program> programs;  // the last one used first
    double doubt = 0.0;  // of differences of functions of a user
};
constexpr size_t PROGRAMS = 8;  // largest number of programs that are kept
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
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>> explicit operator T() const {
        if (place >= 0) record().is_converted = true;
        return T(value);
    }
};
static_assert(sizeof(Recorded) == 16, "cells of recorded numbers are those of complex ones");

inline Recorded write_down(double value, const Operation &own) {
    auto &all = record().operations;
    all.push_back(own);
    return Recorded(value, int64_t(all.size()) - 1);
}
// The value by_a a + by_b b
inline Recorded sum(double value, const Recorded &a, double by_a, const Recorded &b, double by_b) {
    if (a.place < 0 && b.place < 0) return Recorded(value, -1);
    if (a.place < 0) {
        if (by_a * a.value == 0.0 && by_b == 1.0) return b;
        return write_down(value, {SUM, int32_t(b.place), -1, -1, by_b, 0.0, by_a * a.value, 0});
    }
    if (b.place < 0) {
        if (by_b * b.value == 0.0 && by_a == 1.0) return a;
        return write_down(value, {SUM, int32_t(a.place), -1, -1, by_a, 0.0, by_b * b.value, 0});
    }
    return write_down(value, {SUM, int32_t(a.place), int32_t(b.place), -1, by_a, by_b, 0.0, 0});
}
inline Recorded multiple(double value, const Recorded &a, double by) {
    if (a.place < 0 || by == 0.0) return Recorded(value, -1);
    return by == 1.0 ? a : write_down(value, {SUM, int32_t(a.place), -1, -1, by, 0.0, 0.0, 0});
}
// Place of a number as an argument of a function
inline int32_t argument(const Recorded &a) {
    if (a.place >= 0) return int32_t(a.place);
    return int32_t(write_down(a.value, {SUM, -1, -1, -1, 0.0, 0.0, a.value, 0}).place);
}
inline Recorded applied(Code code, const Recorded &a) {
    const double value = value_of(code, 0, a.value, 0.0, 0.0);
    return a.place < 0 ? Recorded(value, -1) : write_down(value, {code, int32_t(a.place), -1, -1, 0.0, 0.0, 0.0, 0});
}
inline Recorded applied(Code code, const Recorded &a, const Recorded &b) {
    const double value = value_of(code, 0, a.value, b.value, 0.0);
    if (a.place < 0 && b.place < 0) return Recorded(value, -1);
    const int32_t first = argument(a), second = argument(b);
    return write_down(value, {code, first, second, -1, 0.0, 0.0, 0.0, 0});
}
inline bool guarded(Comparison how, const Recorded &a, const Recorded &b) {
    const bool outcome = compared(how, a.value, b.value);
    if (a.place >= 0 || b.place >= 0)
        record().guards.push_back({how, outcome, a.place < 0 ? 0 : int32_t(a.place), b.place < 0 ? 0 : int32_t(b.place),
            a.place < 0 ? a.value : 1.0, b.place < 0 ? b.value : 1.0});
    return outcome;
}
inline Recorded operator+(const Recorded &a, const Recorded &b) { return sum(a.value + b.value, a, 1.0, b, 1.0); }
inline Recorded operator-(const Recorded &a, const Recorded &b) { return sum(a.value - b.value, a, 1.0, b, -1.0); }
inline Recorded operator*(const Recorded &a, const Recorded &b) {
    if (a.place < 0) return multiple(a.value * b.value, b, a.value);
    if (b.place < 0) return multiple(a.value * b.value, a, b.value);
    return write_down(a.value * b.value, {PRODUCT, int32_t(a.place), int32_t(b.place), -1, 1.0, 0.0, 0.0, 0});
}
inline Recorded operator/(const Recorded &a, const Recorded &b) {
    if (b.place < 0) return multiple(a.value / b.value, a, 1.0 / b.value);
    if (a.place < 0) return multiple(a.value / b.value, applied(QUOTIENT, Recorded(1.0), b), a.value);
    return applied(QUOTIENT, a, b);
}
inline Recorded operator-(const Recorded &a) { return multiple(-a.value, a, -1.0); }
inline Recorded operator+(const Recorded &a) { return a; }
template <class T> using Arithmetic = std::enable_if_t<std::is_arithmetic<T>::value>;
#define FLEXPH_MIXED(op) \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE Recorded operator op(const Recorded &a, T b) { return a op Recorded(b); } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE Recorded operator op(T a, const Recorded &b) { return Recorded(a) op b; } \
    template <class T> FLEXPH_INLINE Recorded &operator op##=(Recorded &a, const T &b) { return a = a op b; }
FLEXPH_MIXED(+) FLEXPH_MIXED(-) FLEXPH_MIXED(*) FLEXPH_MIXED(/)
#undef FLEXPH_MIXED
#define FLEXPH_COMPARED(op, how) \
    FLEXPH_INLINE bool operator op(const Recorded &a, const Recorded &b) { return guarded(how, a, b); } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE bool operator op(const Recorded &a, T b) { return guarded(how, a, Recorded(b)); } \
    template <class T, class = Arithmetic<T>> FLEXPH_INLINE bool operator op(T a, const Recorded &b) { return guarded(how, Recorded(a), b); }
FLEXPH_COMPARED(<, LESS) FLEXPH_COMPARED(>, MORE) FLEXPH_COMPARED(<=, LESS_OR_EQUAL) FLEXPH_COMPARED(>=, MORE_OR_EQUAL)
FLEXPH_COMPARED(==, EQUAL) FLEXPH_COMPARED(!=, UNEQUAL)
#undef FLEXPH_COMPARED

inline Recorded sqrt(const Recorded &a) { return applied(ROOT, a); }
inline Recorded fabs(const Recorded &a) { return applied(SIZE, a); }
inline Recorded sin(const Recorded &a) { return applied(SINE, a); }
inline Recorded cos(const Recorded &a) { return applied(COSINE, a); }
inline Recorded exp(const Recorded &a) { return applied(EXPONENTIAL, a); }
inline Recorded expm1(const Recorded &a) { return applied(EXPONENTIAL_LESS_ONE, a); }
inline Recorded log1p(const Recorded &a) { return applied(LOGARITHM_OF_ONE_AND, a); }
inline Recorded tanh(const Recorded &a) { return applied(TANGENT_HYPERBOLIC, a); }
inline Recorded atan(const Recorded &a) { return applied(ARC, a); }
inline Recorded atan2(const Recorded &y, const Recorded &x) { return applied(ANGLE, y, x); }
inline Recorded pow(const Recorded &a, const Recorded &b) { return applied(POWER, a, b); }
inline bool isfinite(const Recorded &a) { return guarded(FINITE, a, Recorded(0.0)); }

typedef Vector<Recorded> RVec; typedef Matrix<Recorded> RMat; typedef Tensor<Recorded> RTen;

FLEXPH_INLINE Recorded larger(const Recorded &a, const Recorded &b) { return b > a ? b : a; }
FLEXPH_INLINE Recorded smaller(const Recorded &a, const Recorded &b) { return b < a ? b : a; }
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

// Functions of a user
inline Recorded call_real(Py_ssize_t address, const Recorded &x) {
    const double value = call_real(address, x.value);
    return x.place < 0 ? Recorded(value, -1) : write_down(value, {CALL_OF_ONE, int32_t(x.place), -1, -1, 0.0, 0.0, 0.0, address});
}
inline Recorded call_three(Py_ssize_t address, const Recorded &x, const Recorded &y, const Recorded &z) {
    const double value = call_three(address, x.value, y.value, z.value);
    if (x.place < 0 && y.place < 0 && z.place < 0) return Recorded(value, -1);
    const int32_t first = argument(x), second = argument(y), third = argument(z);
    return write_down(value, {CALL_OF_THREE, first, second, third, 0.0, 0.0, 0.0, address});
}

// Forget all programs
inline void forget_programs() {
    current = &records();
    *current = Record();
}
// Begin a record
inline void begin_record() {
    auto &own = record();
    own.operations.assign(1, {GIVEN, -1, -1, -1, 0.0, 0.0, 0.0, 0});
    own.sources.assign(1, {-1, -1, -1});
    own.guards.clear();
    own.is_converted = false;
}
// Take a number as given: the entry of a group, with its derivative at ``out``
inline Recorded give_one(double value, Size group, Size entry, Size out) {
    auto &own = record();
    own.sources.push_back({int32_t(group), int32_t(entry), int32_t(out)});
    return write_down(value, {GIVEN, -1, -1, -1, 0.0, 0.0, 0.0, 0});
}
// Take all cells of a group as given; with ``out`` ≥ 0 their derivatives go there and behind it
inline void give(const RVec &cells, Size group, Size out) {
    for (Size i = 0; i < cells.count(); i++) cells.p[i] = give_one(cells.p[i].value, group, i, out < 0 ? -1 : out + i);
}
// Take some cells, as the entries 0, 1, … of a group
inline void give_some(const RVec &cells, const IVec &which, Size group, Size out) {
    for (Size i = 0; i < which.count(); i++) cells.p[which.p[i]] = give_one(cells.p[which.p[i]].value, group, i, out + i);
}
// Let the derivatives by given cells go to ``out`` and behind it
inline void want(const RVec &cells, Size out) {
    for (Size i = 0; i < cells.count(); i++) record().sources[cells.p[i].place].out = int32_t(out + i);
}
// Make the program of the record, with sweeps: ends by the unknowns, defects by these, both by all numbers that are wanted
inline void end_record(const RVec &end, const RVec &defect, Size first, Size last, Size count) {
    auto &own = record();
    const auto results = [](const RVec &cells) {
        std::vector<Result> found(cells.count());
        for (Size i = 0; i < cells.count(); i++) found[i] = {int32_t(cells.p[i].place), 1.0};
        return found;
    };
    Compiler compiler(own.operations, Size(own.sources.size()));
    Program made = compiler.program(own.guards, results(end), results(defect), own.sources);
    made.serves_others = !own.is_converted;
    made.prepare(made.sweeps[0], true, false, first, last);
    made.prepare(made.sweeps[1], false, true, first, last);
    made.prepare(made.sweeps[2], true, true, 0, count);
    if (!own.programs.empty() && !own.programs[0].serves_others) own.programs.erase(own.programs.begin());
    if (own.programs.size() == PROGRAMS) own.programs.pop_back();
    own.programs.insert(own.programs.begin(), std::move(made));
}
// Compute the values of the first program with the outcomes of its comparisons; false if there is none
inline bool run_program(const Vec &space, const Vec &before, const Vec &after, const Vec &offset, const Vec &inputs,
        const Vec &constants, double h) {
    auto &own = record();
    const double *groups[] = {space.p, before.p, after.p, offset.p, inputs.p, constants.p, &h};
    for (size_t i = 0; i < own.programs.size(); i++) {
        if (!own.programs[i].serves_others || !own.programs[i].run(groups, own.doubt)) continue;
        std::rotate(own.programs.begin(), own.programs.begin() + i, own.programs.begin() + i + 1);
        return true;
    }
    return false;
}
// Compute the values of the program that was made last, at the numbers of its record
inline void run_new_program(const Vec &space, const Vec &before, const Vec &after, const Vec &offset, const Vec &inputs,
        const Vec &constants, double h) {
    const double *groups[] = {space.p, before.p, after.p, offset.p, inputs.p, constants.p, &h};
    record().programs[0].run(groups, record().doubt);
}
// Write the product of covectors of the ends and of the defects with their derivatives to ``out``
inline void pull(Size sweep, const Vec &by_end, const Vec &by_defect, const Vec &out) {
    auto &own = record().programs[0];
    for (Size i = 0; i < out.count(); i++) out.p[i] = 0.0;
    own.pull(own.sweeps[sweep], by_end, by_defect, out);
}
// Write the derivatives of ends and defects along given derivatives of all numbers that have any
inline void push(const Vec &given, const Vec &of_end, const Vec &of_defect) { record().programs[0].push(given, of_end, of_defect); }
// Write the sums of the sizes of the terms of these derivatives
inline void push_sizes(const Vec &given, const Vec &of_end, const Vec &of_defect) {
    record().programs[0].push<true>(given, of_end, of_defect);
}
inline double doubt() { return record().doubt; }
inline Size operations() { return Size(record().operations.size()); }

}  // namespace flexph
