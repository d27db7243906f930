// Views of contiguous arrays that loops take in place of NumPy's: a pointer and a shape, without an owner or counts.
// All have 32 bytes, those of a row (address, n0, n1, n2) of the table of flexph.integration.loops.memory.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#if defined(_MSC_VER)
#define FLEXPH_INLINE __forceinline
#else
#define FLEXPH_INLINE inline __attribute__((always_inline))
#endif

namespace flexph {

typedef std::ptrdiff_t Size;
typedef std::complex<double> Complex;

#ifdef CHECKED  // a build for tests: an index out of its range ends the process and says where it was
#include <cstdio>
#include <cstdlib>
FLEXPH_INLINE void check(Size i, Size n) {
    if (i < 0 || i >= n) { std::fprintf(stderr, "index %td of %td\n", i, n); std::abort(); }
}
#else
FLEXPH_INLINE void check(Size, Size) {}
#endif

template <class T> struct Vector {
    typedef T Entry;
    T *p;
    union { Size size; Size shape[3]; };
    FLEXPH_INLINE T &operator[](Size i) const { check(i, shape[0]); return p[i]; }
    FLEXPH_INLINE Size count() const { return shape[0]; }
};

template <class T> struct Matrix {
    typedef T Entry;
    T *p;
    Size shape[3];
    FLEXPH_INLINE Vector<T> operator[](Size i) const {
        check(i, shape[0]);
        Vector<T> row; row.p = p + i * shape[1]; row.shape[0] = shape[1]; return row;
    }
    FLEXPH_INLINE Size count() const { return shape[0] * shape[1]; }
};

template <class T> struct Tensor {
    typedef T Entry;
    T *p;
    Size shape[3];
    FLEXPH_INLINE Matrix<T> operator[](Size i) const {
        check(i, shape[0]);
        Matrix<T> own; own.p = p + i * (shape[1] * shape[2]); own.shape[0] = shape[1]; own.shape[1] = shape[2]; return own;
    }
    FLEXPH_INLINE Size count() const { return shape[0] * shape[1] * shape[2]; }
};

typedef Vector<double> Vec; typedef Matrix<double> Mat; typedef Tensor<double> Ten;
typedef Vector<int64_t> IVec; typedef Matrix<int64_t> IMat; typedef Tensor<int64_t> ITen;
typedef Vector<Complex> CVec; typedef Matrix<Complex> CMat; typedef Tensor<Complex> CTen;

template <class V> FLEXPH_INLINE Size entries(const V &a) { return a.count(); }
template <class V> FLEXPH_INLINE V part(const V &a, Size first, Size end) {
    V own = a; own.p = a.p + first * (first == 0 ? 0 : a.count() / (a.shape[0] > 0 ? a.shape[0] : 1)); own.shape[0] = end - first; return own;
}
template <class T> FLEXPH_INLINE Vector<T> part(const Vector<T> &a, Size first, Size end) {
    Vector<T> own; own.p = a.p + first; own.shape[0] = end - first; return own;
}
template <class T> FLEXPH_INLINE Matrix<T> block(const Vector<T> &a, Size first, Size rows, Size columns) {
    Matrix<T> own; own.p = a.p + first; own.shape[0] = rows; own.shape[1] = columns; return own;
}
template <class T> FLEXPH_INLINE Matrix<T> block(const Matrix<T> &a, Size first, Size rows, Size columns) {
    Matrix<T> own; own.p = a.p + first; own.shape[0] = rows; own.shape[1] = columns; return own;
}
template <class T> FLEXPH_INLINE Vector<T> flat(const Vector<T> &a) { return a; }
template <template <class> class V, class T> FLEXPH_INLINE Vector<T> flat(const V<T> &a) {
    Vector<T> own; own.p = a.p; own.shape[0] = a.count(); return own;
}
template <class V> FLEXPH_INLINE auto get(const V &a, Size i) { check(i, a.count()); return a.p[i]; }
template <class V, class T> FLEXPH_INLINE void put(const V &a, Size i, T value) { check(i, a.count()); a.p[i] = value; }
template <class V, class T> FLEXPH_INLINE void fill(const V &a, T value) {
    Size n = a.count();
    for (Size i = 0; i < n; i++) a.p[i] = value;
}
template <class V, class W> FLEXPH_INLINE void copy(const V &source, const W &target) {
    Size n = source.count();
    for (Size i = 0; i < n; i++) target.p[i] = source.p[i];
}
template <class V> FLEXPH_INLINE void average(const V &first, const V &second, const V &out) {
    Size n = out.count();
    for (Size i = 0; i < n; i++) out.p[i] = 0.5 * (first.p[i] + second.p[i]);
}

template <class T, class U> FLEXPH_INLINE auto row_product(Size d, const Vector<T> &a, const Vector<U> &b) {
    auto total = T(0) * U(0);
    for (Size i = 0; i < d; i++) total += a[i] * b[i];
    return total;
}

// As Python has them: the first one where they are equal or one is not a number.
FLEXPH_INLINE double larger(double a, double b) { return b > a ? b : a; }
FLEXPH_INLINE double smaller(double a, double b) { return b < a ? b : a; }
FLEXPH_INLINE Size larger_int(Size a, Size b) { return b > a ? b : a; }
FLEXPH_INLINE Size smaller_int(Size a, Size b) { return b < a ? b : a; }
FLEXPH_INLINE Size absolute_int(Size x) { return x < 0 ? -x : x; }
FLEXPH_INLINE double divided(double x, double y) { return x / y; }
FLEXPH_INLINE Complex divided(const Complex &x, double y) { return Complex(x.real() / y, x.imag() / y); }
FLEXPH_INLINE Complex divided(double x, const Complex &y) {
    double size = y.real() * y.real() + y.imag() * y.imag();
    return Complex(x * y.real() / size, -x * y.imag() / size);
}
FLEXPH_INLINE Complex divided(const Complex &x, const Complex &y) {
    double size = y.real() * y.real() + y.imag() * y.imag();
    return Complex((x.real() * y.real() + x.imag() * y.imag()) / size, (x.imag() * y.real() - x.real() * y.imag()) / size);
}
FLEXPH_INLINE double real_part(double x) { return x; }
FLEXPH_INLINE double real_part(const Complex &x) { return x.real(); }
FLEXPH_INLINE double magnitude(double x) { return std::fabs(x); }
FLEXPH_INLINE double magnitude(const Complex &x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

// Four numbers at once: a vector of the compiler where the processor has it, plain numbers elsewhere. Rows that lanes
// run over fill whole lanes.
constexpr Size LANES = 4;
FLEXPH_INLINE Size padded(Size count) { return (count + LANES - 1) / LANES * LANES; }
// Entries of a row of a banded matrix as it is stored (see algebra.band)
FLEXPH_INLINE Size stored(Size w) { return padded(3 * w + LANES) + LANES; }
template <class T> struct Lane { T x[LANES]; };
template <class T> FLEXPH_INLINE Lane<T> load(const T *p) { return Lane<T>{{p[0], p[1], p[2], p[3]}}; }
template <class T> FLEXPH_INLINE void store(T *p, const Lane<T> &a) { for (Size l = 0; l < LANES; l++) p[l] = a.x[l]; }
template <class T> FLEXPH_INLINE Lane<T> filled(T x) { return Lane<T>{{x, x, x, x}}; }
template <class T> FLEXPH_INLINE T times(T a, T b) { return a * b; }
template <> FLEXPH_INLINE Complex times(Complex a, Complex b) {  // without the care for infinities, which takes calls
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
template <class T> FLEXPH_INLINE Lane<T> operator+(Lane<T> a, const Lane<T> &b) { for (Size l = 0; l < LANES; l++) a.x[l] += b.x[l]; return a; }
template <class T> FLEXPH_INLINE Lane<T> operator-(Lane<T> a, const Lane<T> &b) { for (Size l = 0; l < LANES; l++) a.x[l] -= b.x[l]; return a; }
template <class T> FLEXPH_INLINE Lane<T> operator*(Lane<T> a, const Lane<T> &b) { for (Size l = 0; l < LANES; l++) a.x[l] = times(a.x[l], b.x[l]); return a; }
#if defined(__GNUC__) && defined(__AVX__)
typedef double RealLane __attribute__((vector_size(32)));
typedef double RealLaneAt __attribute__((vector_size(32), aligned(8)));  // where it lies in an array
FLEXPH_INLINE RealLane load(const double *p) { return *(const RealLaneAt *)p; }
FLEXPH_INLINE void store(double *p, RealLane x) { *(RealLaneAt *)p = x; }
FLEXPH_INLINE RealLane filled(double x) { return RealLane{x, x, x, x}; }
#endif
#if defined(__GNUC__)
// Complex numbers as they lie in an array, one or two in a vector: compilers take them apart through memory, and wait.
#if defined(__AVX__)
typedef RealLane Parts; typedef RealLaneAt PartsAt;
FLEXPH_INLINE Parts parts(double x, double y) { return Parts{x, y, x, y}; }
FLEXPH_INLINE Parts swapped(Parts x) { return Parts{x[1], x[0], x[3], x[2]}; }
#else
typedef double Parts __attribute__((vector_size(16))); typedef double PartsAt __attribute__((vector_size(16), aligned(8)));
FLEXPH_INLINE Parts parts(double x, double y) { return Parts{x, y}; }
FLEXPH_INLINE Parts swapped(Parts x) { return Parts{x[1], x[0]}; }
#endif
constexpr Size VECTORS = 2 * LANES * sizeof(double) / sizeof(Parts);
struct ComplexLane { Parts x[VECTORS]; };
struct ComplexFactor { Parts real, imag; };  // (re, re), (−im, im): both times a number and its parts swapped are the product
FLEXPH_INLINE ComplexLane load(const Complex *p) {
    ComplexLane a;
    for (Size l = 0; l < VECTORS; l++) a.x[l] = ((const PartsAt *)p)[l];
    return a;
}
FLEXPH_INLINE void store(Complex *p, const ComplexLane &a) { for (Size l = 0; l < VECTORS; l++) ((PartsAt *)p)[l] = a.x[l]; }
FLEXPH_INLINE ComplexFactor filled(Complex x) { return {parts(x.real(), x.real()), parts(-x.imag(), x.imag())}; }
FLEXPH_INLINE ComplexLane operator*(const ComplexFactor &f, ComplexLane a) {
    for (Size l = 0; l < VECTORS; l++) a.x[l] = f.real * a.x[l] + f.imag * swapped(a.x[l]);
    return a;
}
FLEXPH_INLINE ComplexLane operator+(ComplexLane a, const ComplexLane &b) { for (Size l = 0; l < VECTORS; l++) a.x[l] += b.x[l]; return a; }
FLEXPH_INLINE ComplexLane operator-(ComplexLane a, const ComplexLane &b) { for (Size l = 0; l < VECTORS; l++) a.x[l] -= b.x[l]; return a; }
#endif

// A[i:] -= factor * B[j:], for as many entries, up to a whole lane
template <class V, class W, class T> FLEXPH_INLINE void subtract(const V &A, Size i, const W &B, Size j, T by, Size count) {
    check(i + padded(count), A.count() + 1); check(j + padded(count), B.count() + 1);
    auto *a = A.p + i; const auto *b = B.p + j; auto f = filled(typename V::Entry(by));
    for (Size k = 0; k < count; k += LANES) store(a + k, load(a + k) - f * load(b + k));
}
// A[i:] -= sum of A[f + k] A[j + k step:] over the k of a lane, for as many entries, up to a whole lane
template <class V> FLEXPH_INLINE void subtract_rows(const V &A, Size i, Size f, Size j, Size step, Size count) {
    auto *a = A.p + i; const auto *b = A.p + j;
    auto f0 = filled(A.p[f]), f1 = filled(A.p[f + 1]), f2 = filled(A.p[f + 2]), f3 = filled(A.p[f + 3]);
    for (Size k = 0; k < count; k += LANES) {
        auto total = load(a + k);
        total = total - f0 * load(b + k);
        total = total - f1 * load(b + step + k);
        total = total - f2 * load(b + 2 * step + k);
        store(a + k, total - f3 * load(b + 3 * step + k));
    }
}
// out[i:] = x A[i:] + y B[i:], likewise
template <class V, class T> FLEXPH_INLINE void mix(const V &out, Size i, T x, const V &A, T y, const V &B, Size count) {
    typedef typename V::Entry Entry;
    auto *o = out.p + i; const auto *a = A.p + i, *b = B.p + i; auto X = filled(Entry(x)), Y = filled(Entry(y));
    for (Size k = 0; k < count; k += LANES) store(o + k, X * load(a + k) + Y * load(b + k));
}
// out += share A B for rows, inner and columns numbers of the matrices that begin at the entries o, a and b; share is ±1.
// Each entry takes its products one by one, in the order of the inner index, whatever is computed at once.
template <int ROWS, class L> FLEXPH_INLINE void add_lanes(const Mat &out, Size o, double share, const Mat &A, Size a,
        const double *B, Size step, Size inner) {
    const Size wide = out.shape[1], by = A.shape[1];
    L total[ROWS][2];
    double *to = out.p + o;
    const double *f = A.p + a;
    for (int r = 0; r < ROWS; r++) for (int l = 0; l < 2; l++) total[r][l] = load(to + r * wide + l * LANES);
    for (Size k = 0; k < inner; k++, f++, B += step) {
        L b0 = load(B), b1 = load(B + LANES);
        for (int r = 0; r < ROWS; r++) {
            L factor = filled(share * f[r * by]);
            total[r][0] = total[r][0] + factor * b0;
            total[r][1] = total[r][1] + factor * b1;
        }
    }
    for (int r = 0; r < ROWS; r++) for (int l = 0; l < 2; l++) store(to + r * wide + l * LANES, total[r][l]);
}
FLEXPH_INLINE void add_product(const Mat &out, Size o, double share, const Mat &A, Size a, const Mat &B, Size b,
        Size rows, Size inner, Size columns) {
    if (rows <= 0 || inner <= 0 || columns <= 0) return;
    const Size wide = out.shape[1], by = A.shape[1], step = B.shape[1];
    check(o + (rows - 1) * wide + columns - 1, out.count()); check(a + (rows - 1) * by + inner - 1, A.count());
    check(b + (inner - 1) * step + columns - 1, B.count());
    typedef decltype(filled(0.0)) L;
    const Size DEEP = 256;  // rows of B at once, of which two lanes lie in the first cache
    double panel[DEEP * 2 * LANES];
    for (Size first = 0; first < inner; first += DEEP) {
        const Size deep = inner - first < DEEP ? inner - first : DEEP;
        Size c = 0;
        for (; c + 2 * LANES <= columns; c += 2 * LANES) {
            const double *from = B.p + b + first * step + c;
            for (Size k = 0; k < deep; k++) for (Size l = 0; l < 2 * LANES; l++) panel[k * 2 * LANES + l] = from[k * step + l];
            Size r = 0;
            for (; r + 4 <= rows; r += 4) add_lanes<4, L>(out, o + r * wide + c, share, A, a + r * by + first, panel, 2 * LANES, deep);
            for (; r < rows; r++) add_lanes<1, L>(out, o + r * wide + c, share, A, a + r * by + first, panel, 2 * LANES, deep);
        }
        if (c < columns)
            for (Size r = 0; r < rows; r++) for (Size k = 0; k < deep; k++) {
                const double factor = share * A.p[a + r * by + first + k];
                for (Size j = c; j < columns; j++) out.p[o + r * wide + j] += factor * B.p[b + (first + k) * step + j];
            }
    }
}
// out[o:] += factor B[b:], for so many entries and no more
FLEXPH_INLINE void add_row(const Mat &out, Size o, double factor, const Mat &B, Size b, Size count) {
    check(o + count, out.count() + 1); check(b + count, B.count() + 1);
    double *to = out.p + o;
    const double *from = B.p + b;
    auto f = filled(factor);
    Size k = 0;
    for (; k + LANES <= count; k += LANES) store(to + k, load(to + k) + f * load(from + k));
    for (; k < count; k++) to[k] += factor * from[k];
}
// Have entries brought into the cache, to be written: processors do not foresee rows of a band
template <class V> FLEXPH_INLINE void prefetch(const V &A, Size i, Size count) {
#if defined(__GNUC__)
    for (Size k = 0; k < count; k += 8) __builtin_prefetch(A.p + i + k, 1, 3);
#else
    (void)A; (void)i; (void)count;
#endif
}

// out[i] = sum_j mean[i, j] form[row + j] + sum_e val[e + shift] u[col[e]], rows of N lanes, e from first to last
template <int N, int COUNT> FLEXPH_INLINE void combined(Size d, const Mat *outs, Size i, const Mat &mean, const Mat &form,
        const Mat &val, Size first, Size last, Size shift, const Vec *us, const IVec &col) {
    constexpr Size K = N * LANES;
    decltype(filled(0.0)) total[COUNT][N];
    for (int c = 0; c < COUNT; c++) for (int k = 0; k < N; k++) total[c][k] = filled(0.0);
    for (Size j = 0; j < d; j++) {
        auto w = filled(mean.p[i * d + j]);
        for (int c = 0; c < COUNT; c++) for (int k = 0; k < N; k++)
            total[c][k] = total[c][k] + w * load(form.p + (c * d + j) * K + k * LANES);
    }
    for (Size e = first; e < last; e++) {
        Size at = col.p[e];
        const double *row = val.p + (e + shift) * K;
        for (int c = 0; c < COUNT; c++) {
            auto w = filled(us[c].p[at]);
            for (int k = 0; k < N; k++) total[c][k] = total[c][k] + w * load(row + k * LANES);
        }
    }
    for (int c = 0; c < COUNT; c++) for (int k = 0; k < N; k++) store(outs[c].p + i * K + k * LANES, total[c][k]);
}
FLEXPH_INLINE void combine(Size d, const Mat &out, Size i, const Mat &mean, const Mat &form, const Mat &val, Size first,
        Size last, Size shift, const Vec &u, const IVec &col) {
    if (d == 2) combined<1, 1>(2, &out, i, mean, form, val, first, last, shift, &u, col);
    else combined<4, 1>(3, &out, i, mean, form, val, first, last, shift, &u, col);
}
// The same for two u at once, which share the rows of val
FLEXPH_INLINE void combine_two(Size d, const Mat &out, const Mat &more, Size i, const Mat &mean, const Mat &form,
        const Mat &val, Size first, Size last, Size shift, const Vec &u, const Vec &du, const IVec &col) {
    const Mat outs[2] = {out, more};
    const Vec us[2] = {u, du};
    if (d == 2) combined<1, 2>(2, outs, i, mean, form, val, first, last, shift, us, col);
    else combined<4, 2>(3, outs, i, mean, form, val, first, last, shift, us, col);
}

// Functions at addresses: those of flexph.numerics.loops.callbacks
FLEXPH_INLINE Size call_one(Size address, Size x) { return ((Size (*)(Size))address)(x); }
FLEXPH_INLINE Size call_two(Size address, Size x, Size y) { return ((Size (*)(Size, Size))address)(x, y); }

}  // namespace flexph
