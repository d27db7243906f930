# Recorded numbers and their views: recorded.hpp.
from .views cimport IVec, Vec

cdef extern from "recorded.hpp" namespace "flexph" nogil:
    ctypedef double Recorded
    cdef cppclass RVec:
        Recorded* p
        Py_ssize_t size
        Py_ssize_t shape[3]
        Recorded& operator[](Py_ssize_t)
    cdef cppclass RMat:
        Recorded* p
        Py_ssize_t shape[3]
        RVec operator[](Py_ssize_t)
    cdef cppclass RTen:
        Recorded* p
        Py_ssize_t shape[3]
        RMat operator[](Py_ssize_t)
    Recorded sqrt(Recorded)
    Recorded fabs(Recorded)
    Recorded sin(Recorded)
    Recorded cos(Recorded)
    Recorded exp(Recorded)
    Recorded expm1(Recorded)
    Recorded log1p(Recorded)
    Recorded tanh(Recorded)
    Recorded atan(Recorded)
    Recorded atan2(Recorded, Recorded)
    bint isfinite(Recorded)
    Py_ssize_t entries[V](V)
    V part[V](V, Py_ssize_t, Py_ssize_t)
    RMat block(RVec, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    RMat block(RMat, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    RVec flat(RVec)
    RVec flat(RMat)
    RVec flat(RTen)
    Recorded get(RVec, Py_ssize_t)
    Recorded get(RMat, Py_ssize_t)
    Recorded get(RTen, Py_ssize_t)
    long long get(IVec, Py_ssize_t)
    void put(RVec, Py_ssize_t, Recorded)
    void put(RMat, Py_ssize_t, Recorded)
    void put(RTen, Py_ssize_t, Recorded)
    void fill[V](V, double)
    void copy[V, W](V, W)
    void average[V](V, V, V)
    Recorded row_product(Py_ssize_t, RVec, RVec)
    Recorded larger(Recorded, Recorded)
    Recorded smaller(Recorded, Recorded)
    Py_ssize_t most(Py_ssize_t, Py_ssize_t)
    Py_ssize_t fewest(Py_ssize_t, Py_ssize_t)
    Py_ssize_t distance(Py_ssize_t)
    Recorded divided(Recorded, Recorded)
    Recorded real_part(Recorded)
    Recorded magnitude(Recorded)
    Py_ssize_t padded(Py_ssize_t)
    Py_ssize_t stored(Py_ssize_t)
    void take(RMat, Py_ssize_t, RMat, Py_ssize_t, Recorded, Py_ssize_t)
    void take(RVec, Py_ssize_t, RMat, Py_ssize_t, Recorded, Py_ssize_t)
    void take(RVec, Py_ssize_t, RVec, Py_ssize_t, Recorded, Py_ssize_t)
    void add_product(RMat, Py_ssize_t, Recorded, RMat, Py_ssize_t, RMat, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    void mix(RVec, Py_ssize_t, Recorded, RVec, Recorded, RVec, Py_ssize_t)
    void mix(RMat, Py_ssize_t, Recorded, RMat, Recorded, RMat, Py_ssize_t)
    void combine(Py_ssize_t, RMat, Py_ssize_t, RMat, RMat, RMat, Py_ssize_t, Py_ssize_t, Py_ssize_t, RVec, IVec)
    void combine_two(Py_ssize_t, RMat, RMat, Py_ssize_t, RMat, RMat, RMat, Py_ssize_t, Py_ssize_t, Py_ssize_t, RVec, RVec, IVec)
    Py_ssize_t call_one(Py_ssize_t, Py_ssize_t)
    Recorded call_real(Py_ssize_t, Recorded)
    Recorded call_three(Py_ssize_t, Recorded, Recorded, Recorded)
    void begin_record(Py_ssize_t)
    void place(RVec, Py_ssize_t)
    void set_adjoints()
    void weigh(RVec, Vec)
    void sweep()
    void adjoints(Py_ssize_t, Vec)
    void add_adjoints(Py_ssize_t, Vec)
    Py_ssize_t operations()
