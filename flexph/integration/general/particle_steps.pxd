from libc.math cimport exp, fabs, isfinite, sqrt, tanh
from libc.string cimport memcpy

from ...numerics.loops.views cimport IMat, Mat, Vec, copy, fill, larger, smaller
from .particle_arrays cimport Space

cdef Py_ssize_t BY_GONZALEZ, BY_INVARIANTS, BY_MEAN_VALUE, BY_SECANTS
cdef Py_ssize_t OF_LENGTH, OF_VISCOUS, OF_QUADRATIC, OF_COULOMB, OF_DRAG
cdef Py_ssize_t IS_SOLVED, IS_SINGULAR, HAS_DIVERGED, IS_UNSETTLED
cdef double ROUNDED, LEFT_OVER, NEARLY_SAME, ACCOUNTED, SMALL_RATE, NEAR_RATE
cdef double SETTLED, LEAST_REDUCTION, STAGNATED, NOISE, STALLED, SUDDEN, FAR, SLOW, SINGULAR_UPDATE, NO_CHANGE
cdef Py_ssize_t ITERATIONS

cdef void run(Space* s, Py_ssize_t dim, Py_ssize_t kind) noexcept nogil
cdef void grow(Space* s) noexcept nogil
cdef double difference(IMat ends, Mat offsets, Py_ssize_t k, Py_ssize_t dim, Vec q, Py_ssize_t j) noexcept nogil
cdef double apart(IMat ends, Py_ssize_t k, Py_ssize_t dim, Py_ssize_t shift, Vec v, Py_ssize_t j) noexcept nogil
cdef void spread(
    IMat ends, Py_ssize_t k, Py_ssize_t dim, Py_ssize_t shift, Vec out, Py_ssize_t j, double value
) noexcept nogil
cdef double potential(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double pull(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double stiffness(Py_ssize_t kind, Vec law, double square) noexcept nogil
cdef double energy(Space* s, Py_ssize_t dim, Vec x) noexcept nogil
cdef double squared(Space* s, Py_ssize_t dim, Py_ssize_t k, Vec x) noexcept nogil
cdef void invariants(Space* s, Py_ssize_t dim, Vec x, Vec out) noexcept nogil
cdef void lines_of(IMat ends, Mat offsets, Py_ssize_t dim, Vec q, Mat out) noexcept nogil
cdef void add_springs(Space* s, Py_ssize_t dim, Mat lines, double share, Vec out) noexcept nogil
cdef double relation_force(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double friction_level(Vec law, double rate) noexcept nogil
cdef double relation_slope(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double relation_unit(Py_ssize_t kind, Vec law) noexcept nogil
cdef double resistance(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef double resistance_slope(Py_ssize_t kind, Vec law, double rate) noexcept nogil
cdef void add_dampers(Space* s, Py_ssize_t dim, Vec v, Vec out) noexcept nogil
cdef void equation(
    Space* s, Py_ssize_t dim, Py_ssize_t kind, Py_ssize_t k, double h, double before
) noexcept nogil
cdef double missing_share(double along, double size, double before, double after) noexcept nogil
cdef void along_gonzalez(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef void along_mean_value(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef void along_invariants(Space* s, Py_ssize_t dim, double before) noexcept nogil
cdef double secant(Py_ssize_t kind, Vec law, double first, double last) noexcept nogil
cdef double secant_slope(Py_ssize_t kind, Vec law, double first, double last) noexcept nogil
cdef void along_secants(Space* s, Py_ssize_t dim) noexcept nogil
cdef void hold_rods(Space* s, Py_ssize_t dim) noexcept nogil
cdef void flows(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
cdef void add_block(
    IMat ends, Py_ssize_t k, Py_ssize_t dim, Mat matrix, Py_ssize_t shift, Py_ssize_t i, Py_ssize_t j, double value
) noexcept nogil
cdef bint assemble(Space* s, Py_ssize_t dim, Py_ssize_t kind, double h, double before) noexcept nogil
cdef void stiffnesses(Space* s, Py_ssize_t dim, Py_ssize_t kind, double h) noexcept nogil
cdef void secant_stiffness(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
cdef void damper_slopes(Space* s, Py_ssize_t dim, Py_ssize_t k, double h) noexcept nogil
cdef void damper_rate_slope(
    Space* s, Py_ssize_t dim, Py_ssize_t k, double h, Py_ssize_t i, Py_ssize_t j, double value
) noexcept nogil
cdef void rates(Space* s, Py_ssize_t dim, double h, double ratio) noexcept nogil
cdef double velocity_share(Space* s, Py_ssize_t place, double ratio) noexcept nogil
cdef void resist(
    Space* s, Py_ssize_t dim, Py_ssize_t k, double h, double ratio, Py_ssize_t i, Py_ssize_t j, double value
) noexcept nogil
cdef double bend(Space* s, Py_ssize_t dim, double h, double before) noexcept nogil
cdef bint factor(Space* s) noexcept nogil
cdef void exchange(Space* s, Py_ssize_t k, Py_ssize_t p) noexcept nogil
cdef void eliminate(Vec row, Vec pivot, Py_ssize_t k, double ratio, Py_ssize_t m) noexcept nogil
cdef void solve(Space* s, Vec right, Vec out) noexcept nogil
cdef void corrected(Space* s, Vec out) noexcept nogil
cdef void turn(Vec correction, Vec turns, Vec out) noexcept nogil
cdef Py_ssize_t newton(
    Space* s, Py_ssize_t dim, Py_ssize_t kind, Py_ssize_t k, double h, double before
) noexcept nogil
cdef bint is_last(double size, double previous, double by_own, bint own, bint fresh) noexcept nogil
cdef bint update(Space* s) noexcept nogil
