// Programs of recorded operations: sums of products and functions of earlier values, and sweeps back through them.
//
// A record (recorded.hpp) is taken once; its program then has the values of all steps with the same comparisons. Sums
// that are used once are written into the sums that use them: ν = Σ c ν_a + Σ c ν_a ν_b, of given numbers as of results.
#pragma once
#include "functions.hpp"
#include "views.hpp"
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace flexph {

enum Code : int32_t {
    GIVEN, SUM, PRODUCT,  // constant + by_first ν_first + by_second ν_second; by_first ν_first ν_second
    QUOTIENT, ROOT, SIZE, SINE, COSINE, EXPONENTIAL, EXPONENTIAL_LESS_ONE, LOGARITHM_OF_ONE_AND, TANGENT_HYPERBOLIC,
    ARC, ANGLE, POWER, CALL_OF_ONE, CALL_OF_THREE
};
struct Operation { Code code; int32_t first, second, third; double by_first, by_second, constant; Py_ssize_t address; };
enum Comparison : int32_t { LESS, MORE, LESS_OR_EQUAL, MORE_OR_EQUAL, EQUAL, UNEQUAL, FINITE };
struct Guard { Comparison comparison; bool outcome; int32_t first, second; double by_first, by_second; };
struct Source { int32_t group, entry, out; };  // a given number, and where derivatives by it go, −1 for nowhere
struct Result { int32_t place; double factor; };

inline bool compared(Comparison how, double a, double b) {
    switch (how) {
        case LESS: return a < b;
        case MORE: return a > b;
        case LESS_OR_EQUAL: return a <= b;
        case MORE_OR_EQUAL: return a >= b;
        case EQUAL: return a == b;
        case UNEQUAL: return a != b;
        default: return std::isfinite(a);
    }
}

// Derivative of a function of a user by differences of sixth order; ``doubt`` is how far those of fourth order differ
template <class F> inline double slope(F function, double x, double &doubt) {
    const double h = 1e-3 * (std::fabs(x) > 1.0 ? std::fabs(x) : 1.0);
    const double one = function(x + h) - function(x - h), two = function(x + 2.0 * h) - function(x - 2.0 * h);
    const double three = function(x + 3.0 * h) - function(x - 3.0 * h);
    const double fine = (45.0 * one - 9.0 * two + three) / (60.0 * h), coarse = (8.0 * one - two) / (12.0 * h);
    const double size = (std::fabs(one) + std::fabs(two) + std::fabs(three)) / h;
    if (size > 0.0 && std::fabs(fine - coarse) / size > doubt) doubt = std::fabs(fine - coarse) / size;
    return fine;
}

inline int arguments(Code code) { return code == CALL_OF_THREE ? 3 : code == QUOTIENT || code == ANGLE || code == POWER ? 2 : 1; }

// Value of a function
inline double value_of(Code code, Py_ssize_t address, double x, double y, double z) {
    switch (code) {
        case QUOTIENT: return x / y;
        case ROOT: return std::sqrt(x);
        case SIZE: return std::fabs(x);
        case SINE: return std::sin(x);
        case COSINE: return std::cos(x);
        case EXPONENTIAL: return std::exp(x);
        case EXPONENTIAL_LESS_ONE: return std::expm1(x);
        case LOGARITHM_OF_ONE_AND: return std::log1p(x);
        case TANGENT_HYPERBOLIC: return std::tanh(x);
        case ARC: return std::atan(x);
        case ANGLE: return std::atan2(x, y);
        case POWER: return std::pow(x, y);
        case CALL_OF_ONE: return call_real(address, x);
        default: return call_three(address, x, y, z);
    }
}
// Its derivatives by its arguments
inline void slopes_of(Code code, Py_ssize_t address, double x, double y, double z, double value, double *out, double &doubt) {
    switch (code) {
        case QUOTIENT: out[0] = 1.0 / y; out[1] = -value / y; return;
        case ROOT: out[0] = value > 0.0 ? 0.5 / value : 0.0; return;
        case SIZE: out[0] = x < 0.0 ? -1.0 : 1.0; return;
        case SINE: out[0] = std::cos(x); return;
        case COSINE: out[0] = -std::sin(x); return;
        case EXPONENTIAL: out[0] = value; return;
        case EXPONENTIAL_LESS_ONE: out[0] = value + 1.0; return;
        case LOGARITHM_OF_ONE_AND: out[0] = 1.0 / (1.0 + x); return;
        case TANGENT_HYPERBOLIC: out[0] = 1.0 - value * value; return;
        case ARC: out[0] = 1.0 / (1.0 + x * x); return;
        case ANGLE: { const double size = x * x + y * y; out[0] = y / size; out[1] = -x / size; return; }
        case POWER: out[0] = y == 0.0 ? 0.0 : y * std::pow(x, y - 1.0); out[1] = x > 0.0 ? value * std::log(x) : 0.0; return;
        case CALL_OF_ONE: out[0] = slope([=](double t) { return call_real(address, t); }, x, doubt); return;
        default:
            out[0] = slope([=](double t) { return call_three(address, t, y, z); }, x, doubt);
            out[1] = slope([=](double t) { return call_three(address, x, t, z); }, y, doubt);
            out[2] = slope([=](double t) { return call_three(address, x, y, t); }, z, doubt);
    }
}

struct Linear { double factor; int32_t place; };
struct Product { double factor; int32_t first, second; };
struct Node { int32_t own, function, linear_end, product_end; };  // place of its value; its function, −1 for a sum
struct Function { Code code; int32_t places[3]; Py_ssize_t address; };

// Derivatives of some results by some given numbers: nodes from the last one, with what each adds to the adjoints of
// its arguments, by constants or by values
struct Sweep {
    struct Seed { int32_t entry, place; double factor; };
    struct Node { int32_t own, linear_end, product_end; };
    struct Out { int32_t place, entry; };
    std::vector<Seed> ends, defects;
    std::vector<Node> nodes;
    std::vector<Linear> linear;
    std::vector<Product> products;
    std::vector<Out> outs;
};

struct Program {
    std::vector<double> values, adjoint, tangent;
    std::vector<Source> sources;  // of the values from place 1 on; value 0 is one
    std::vector<Node> nodes;
    std::vector<Linear> linear;
    std::vector<Product> products;
    std::vector<Function> functions;
    std::vector<Guard> guards;
    std::vector<Result> ends, defects;
    bool serves_others = true;
    Sweep sweeps[3];

    // Compute all values; false if a comparison has another outcome
    bool run(const double *const *groups, double &doubt) {
        double *v = values.data();
        v[0] = 1.0;
        for (size_t i = 0; i < sources.size(); i++) v[i + 1] = groups[sources[i].group][sources[i].entry];
        const Linear *one = linear.data();
        const Product *two = products.data();
        for (const Node &node : nodes) {
            double total = 0.0;
            for (const Linear *end = linear.data() + node.linear_end; one < end; one++) total += one->factor * v[one->place];
            for (const Product *end = products.data() + node.product_end; two < end; two++)
                total += two->factor * v[two->first] * v[two->second];
            if (node.function >= 0) {
                const Function &f = functions[node.function];
                const double x = v[f.places[0]], y = v[f.places[1]], z = v[f.places[2]];
                total = value_of(f.code, f.address, x, y, z);
                slopes_of(f.code, f.address, x, y, z, total, v + node.own + 1, doubt);
            }
            v[node.own] = total;
        }
        for (const Guard &guard : guards)
            if (compared(guard.comparison, guard.by_first * v[guard.first], guard.by_second * v[guard.second]) != guard.outcome)
                return false;
        return true;
    }

    // Write the product of covectors of the results with their derivatives to ``out``, where it has any
    void pull(const Sweep &sweep, const Vec &by_end, const Vec &by_defect, const Vec &out) {
        double *a = adjoint.data();
        const double *v = values.data();
        if (by_end.count() > 0) for (const auto &seed : sweep.ends) a[seed.place] += seed.factor * by_end.p[seed.entry];
        if (by_defect.count() > 0) for (const auto &seed : sweep.defects) a[seed.place] += seed.factor * by_defect.p[seed.entry];
        const Linear *one = sweep.linear.data();
        const Product *two = sweep.products.data();
        for (const auto &node : sweep.nodes) {
            const Linear *const linear_end = sweep.linear.data() + node.linear_end;
            const Product *const product_end = sweep.products.data() + node.product_end;
            const double by = a[node.own];
            if (by == 0.0) {  // a derivative of what has no weight may be infinite
                one = linear_end;
                two = product_end;
                continue;
            }
            a[node.own] = 0.0;
            for (; one < linear_end; one++) a[one->place] += by * one->factor;
            for (; two < product_end; two++) a[two->first] += by * two->factor * v[two->second];
        }
        for (const auto &own : sweep.outs) {
            out.p[own.entry] = a[own.place];
            a[own.place] = 0.0;
        }
    }

    // Write the derivatives of results along those of the given numbers; or the sums of sizes of the terms of these
    template <bool sizes = false> void push(const Vec &given, const Vec &of_end, const Vec &of_defect) {
        const auto size_of = [](double x) { return sizes ? std::fabs(x) : x; };
        tangent.resize(values.size(), 0.0);
        double *t = tangent.data();
        const double *v = values.data();
        for (size_t i = 0; i < sources.size(); i++) t[i + 1] = sources[i].out >= 0 ? size_of(given.p[sources[i].out]) : 0.0;
        const Linear *one = linear.data();
        const Product *two = products.data();
        for (const Node &node : nodes) {
            double total = 0.0;
            for (const Linear *end = linear.data() + node.linear_end; one < end; one++) total += size_of(one->factor) * t[one->place];
            for (const Product *end = products.data() + node.product_end; two < end; two++)
                total += size_of(two->factor) * (t[two->first] * size_of(v[two->second]) + size_of(v[two->first]) * t[two->second]);
            if (node.function >= 0) {
                const Function &f = functions[node.function];
                for (int i = 0; i < arguments(f.code); i++)  // a derivative by what does not change may be infinite
                    if (t[f.places[i]] != 0.0) total += size_of(v[node.own + 1 + i]) * t[f.places[i]];
            }
            t[node.own] = total;
        }
        for (Size i = 0; i < of_end.count(); i++) of_end.p[i] = ends[i].place > 0 ? size_of(ends[i].factor) * t[ends[i].place] : 0.0;
        for (Size i = 0; i < of_defect.count(); i++)
            of_defect.p[i] = defects[i].place > 0 ? size_of(defects[i].factor) * t[defects[i].place] : 0.0;
    }

    // Prepare the derivatives of ends and defects, as far as they are wanted, by given numbers with places of ``out``
    // between ``first`` and ``last``, which are counted from ``first``
    void prepare(Sweep &sweep, bool of_ends, bool of_defects, Size first, Size last) {
        std::vector<char> depends(values.size(), 0), needed(values.size(), 0);
        for (size_t i = 0; i < sources.size(); i++) depends[i + 1] = sources[i].out >= first && sources[i].out < last;
        each([&](const Node &node, int32_t place, int32_t, double) { depends[node.own] |= depends[place]; });
        const auto seed = [&](const std::vector<Result> &results, std::vector<Sweep::Seed> &seeds) {
            for (size_t i = 0; i < results.size(); i++)
                if (results[i].place > 0 && depends[results[i].place]) {
                    seeds.push_back({int32_t(i), results[i].place, results[i].factor});
                    needed[results[i].place] = 1;
                }
        };
        if (of_ends) seed(ends, sweep.ends);
        if (of_defects) seed(defects, sweep.defects);
        for (size_t k = nodes.size(); k-- > 0;) {
            const Node &node = nodes[k];
            if (!depends[node.own] || !needed[node.own]) continue;
            each_of(k, [&](int32_t place, int32_t by, double factor) {
                if (!depends[place]) return;
                needed[place] = 1;
                if (by == 0) sweep.linear.push_back({factor, place});
                else sweep.products.push_back({factor, place, by});
            });
            sweep.nodes.push_back({node.own, int32_t(sweep.linear.size()), int32_t(sweep.products.size())});
        }
        for (size_t i = 0; i < sources.size(); i++)
            if (depends[i + 1] && needed[i + 1]) sweep.outs.push_back({int32_t(i + 1), int32_t(sources[i].out - first)});
    }

    // Call with the arguments of each node, the place of the value by which its derivative is multiplied, and a factor
    template <class F> void each_of(size_t k, F call) const {
        const Node &node = nodes[k];
        for (int32_t l = k > 0 ? nodes[k - 1].linear_end : 0; l < node.linear_end; l++) call(linear[l].place, 0, linear[l].factor);
        for (int32_t p = k > 0 ? nodes[k - 1].product_end : 0; p < node.product_end; p++) {
            call(products[p].first, products[p].second, products[p].factor);
            call(products[p].second, products[p].first, products[p].factor);
        }
        if (node.function < 0) return;
        const Function &f = functions[node.function];
        for (int i = 0; i < arguments(f.code); i++) call(f.places[i], node.own + 1 + i, 1.0);
    }
    template <class F> void each(F call) const {
        for (size_t k = 0; k < nodes.size(); k++)
            each_of(k, [&](int32_t place, int32_t by, double factor) { call(nodes[k], place, by, factor); });
    }
};

// Program of operations
class Compiler {
    std::vector<Operation> &all;
    const Size givens;
    std::vector<Result> alias;  // multiple of an earlier value that an operation is
    std::vector<int32_t> uses, place;
    std::vector<char> in_sum;
    std::vector<std::pair<std::vector<Linear>, std::vector<Product>>> parts;

    Result resolved(int32_t i) const { return i < 0 ? Result{-1, 0.0} : alias[i]; }
    bool is_sum(int32_t i) const { return all[i].code == SUM || all[i].code == PRODUCT; }
    bool joins(int32_t i) const { return is_sum(i) && uses[i] == 1 && in_sum[i]; }

    void find_multiples() {
        for (Size i = 0; i < Size(all.size()); i++) {
            Operation &own = all[i];
            alias[i] = {int32_t(i), 1.0};
            const Result a = resolved(own.first), b = resolved(own.second);
            if (own.code == SUM) {
                own.first = a.place; own.by_first *= a.factor;
                own.second = b.place; own.by_second *= b.factor;
                if (own.second >= 0 && own.second == own.first) { own.by_first += own.by_second; own.second = -1; }
                if (own.first >= 0 && own.second < 0 && own.constant == 0.0) alias[i] = {own.first, own.by_first};
            } else if (own.code == PRODUCT) {
                own.first = a.place; own.second = b.place;
                own.by_first *= a.factor * b.factor;
            } else {
                for (int32_t *one : {&own.first, &own.second, &own.third})
                    if (*one >= 0 && alias[*one].factor == 1.0) *one = alias[*one].place;
            }
        }
    }
    void use(int32_t i, int32_t times, bool by_sum) {
        if (i < 0) return;
        uses[i] += times;
        in_sum[i] = by_sum;
    }
    void count_uses(const std::vector<Guard> &guards, const std::vector<Result> &results) {
        for (const Guard &guard : guards) { use(guard.first, 2, false); use(guard.second, 2, false); }
        for (const Result &result : results) use(result.place, 2, false);
        for (Size i = Size(all.size()) - 1; i >= givens; i--) {
            if (uses[i] == 0) continue;
            const Operation &own = all[i];
            const bool by_sum = own.code == SUM;
            use(own.first, 1, by_sum); use(own.second, 1, by_sum); use(own.third, 1, by_sum);
        }
    }
    void add(std::pair<std::vector<Linear>, std::vector<Product>> &sum, int32_t i, double factor) {
        if (!joins(i)) { sum.first.push_back({factor, place[i]}); return; }
        auto &own = parts[i];
        for (auto &one : own.first) one.factor *= factor;
        for (auto &one : own.second) one.factor *= factor;
        if (sum.first.empty() && sum.second.empty()) { sum = std::move(own); return; }
        sum.first.insert(sum.first.end(), own.first.begin(), own.first.end());
        sum.second.insert(sum.second.end(), own.second.begin(), own.second.end());
        own = {};
    }
    Result placed(const Result &one) const { return one.place < 0 ? one : Result{place[one.place], one.factor}; }

public:
    Compiler(std::vector<Operation> &operations, Size numbers)
        : all(operations), givens(numbers), alias(all.size()), uses(all.size(), 0), place(all.size(), -1),
          in_sum(all.size(), 0), parts(all.size()) {}

    Program program(std::vector<Guard> guards, std::vector<Result> ends, std::vector<Result> defects, const std::vector<Source> &sources) {
        Program made;
        find_multiples();
        for (auto *results : {&ends, &defects})
            for (Result &one : *results) if (one.place >= 0) one = resolved(one.place);
        for (Guard &guard : guards) {
            const Result a = resolved(guard.first), b = resolved(guard.second);
            guard.first = a.place; guard.by_first *= a.factor;
            guard.second = b.place; guard.by_second *= b.factor;
        }
        std::vector<Result> results = ends;
        results.insert(results.end(), defects.begin(), defects.end());
        count_uses(guards, results);
        int32_t next = 1;
        place[0] = 0;
        for (Size i = 1; i < givens; i++)
            if (uses[i] > 0) { place[i] = next++; made.sources.push_back(sources[i]); }
        for (Size i = givens; i < Size(all.size()); i++) {
            if (uses[i] == 0) continue;
            const Operation &own = all[i];
            int32_t function = -1;
            if (own.code == SUM) {
                if (own.first >= 0) add(parts[i], own.first, own.by_first);
                if (own.second >= 0) add(parts[i], own.second, own.by_second);
                if (own.constant != 0.0 || own.first < 0) parts[i].first.push_back({own.constant, 0});
            } else if (own.code == PRODUCT) {
                parts[i].second.push_back({own.by_first, place[own.first], place[own.second]});
            } else {
                const auto at = [&](int32_t k) { return k < 0 ? 0 : place[k]; };
                function = int32_t(made.functions.size());
                made.functions.push_back({own.code, {at(own.first), at(own.second), at(own.third)}, own.address});
            }
            if (joins(int32_t(i))) continue;
            made.linear.insert(made.linear.end(), parts[i].first.begin(), parts[i].first.end());
            made.products.insert(made.products.end(), parts[i].second.begin(), parts[i].second.end());
            parts[i] = {};
            place[i] = next;
            next += 1 + (function < 0 ? 0 : arguments(own.code));
            made.nodes.push_back({place[i], function, int32_t(made.linear.size()), int32_t(made.products.size())});
        }
        for (const Result &one : ends) made.ends.push_back(placed(one));
        for (const Result &one : defects) made.defects.push_back(placed(one));
        for (Guard &guard : guards) { guard.first = place[guard.first]; guard.second = place[guard.second]; }
        made.guards = std::move(guards);
        made.values.assign(next, 0.0);
        made.adjoint.assign(next, 0.0);
        return made;
    }
};

}  // namespace flexph
