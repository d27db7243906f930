# What loops take from views.hpp; its twin where they run uncompiled is views.py.
from libc.stdint cimport int64_t

ctypedef double Number
ctypedef double complex ComplexNumber

cdef extern from "views.hpp" namespace "flexph" nogil:
    cdef cppclass Vec:
        double* p
        Py_ssize_t size
        Py_ssize_t shape[3]
        double& operator[](Py_ssize_t)
    cdef cppclass Mat:
        double* p
        Py_ssize_t shape[3]
        Vec operator[](Py_ssize_t)
    cdef cppclass Ten:
        double* p
        Py_ssize_t shape[3]
        Mat operator[](Py_ssize_t)
    cdef cppclass IVec:
        int64_t* p
        Py_ssize_t size
        Py_ssize_t shape[3]
        int64_t& operator[](Py_ssize_t)
    cdef cppclass IMat:
        int64_t* p
        Py_ssize_t shape[3]
        IVec operator[](Py_ssize_t)
    cdef cppclass ITen:
        int64_t* p
        Py_ssize_t shape[3]
        IMat operator[](Py_ssize_t)
    cdef cppclass CVec:
        double complex* p
        Py_ssize_t size
        Py_ssize_t shape[3]
        double complex& operator[](Py_ssize_t)
    cdef cppclass CMat:
        double complex* p
        Py_ssize_t shape[3]
        CVec operator[](Py_ssize_t)
    cdef cppclass CTen:
        double complex* p
        Py_ssize_t shape[3]
        CMat operator[](Py_ssize_t)
    Py_ssize_t entries[V](V)
    V part[V](V, Py_ssize_t, Py_ssize_t)
    Mat block(Vec, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    Mat block(Mat, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    CMat block(CVec, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    CMat block(CMat, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    Vec flat(Vec)
    Vec flat(Mat)
    Vec flat(Ten)
    CVec flat(CVec)
    CVec flat(CMat)
    CVec flat(CTen)
    double get(Vec, Py_ssize_t)
    double get(Mat, Py_ssize_t)
    double get(Ten, Py_ssize_t)
    int64_t get(IVec, Py_ssize_t)
    double complex get(CVec, Py_ssize_t)
    double complex get(CMat, Py_ssize_t)
    void put(Vec, Py_ssize_t, double)
    void put(Mat, Py_ssize_t, double)
    void put(Ten, Py_ssize_t, double)
    void put(CVec, Py_ssize_t, double complex)
    void put(CMat, Py_ssize_t, double complex)
    void put(CTen, Py_ssize_t, double complex)
    void fill[V](V, double)
    void copy[V, W](V, W)
    void average[V](V, V, V)
    double row_product(Py_ssize_t, Vec, Vec)
    double complex row_product(Py_ssize_t, CVec, Vec)
    double complex row_product(Py_ssize_t, CVec, CVec)
    double larger(double, double)
    double smaller(double, double)
    Py_ssize_t larger_int(Py_ssize_t, Py_ssize_t)
    Py_ssize_t smaller_int(Py_ssize_t, Py_ssize_t)
    Py_ssize_t absolute_int(Py_ssize_t)
    double divided(double, double)
    double complex divided(double complex, double)
    double complex divided(double, double complex)
    double complex divided(double complex, double complex)
    double real_part(double)
    double real_part(double complex)
    double magnitude(double)
    double magnitude(double complex)
    Py_ssize_t padded(Py_ssize_t)
    Py_ssize_t stored(Py_ssize_t)
    void subtract(Mat, Py_ssize_t, Mat, Py_ssize_t, double, Py_ssize_t)
    void subtract(Vec, Py_ssize_t, Mat, Py_ssize_t, double, Py_ssize_t)
    void subtract(Mat, Py_ssize_t, Vec, Py_ssize_t, double, Py_ssize_t)
    void subtract(Vec, Py_ssize_t, Vec, Py_ssize_t, double, Py_ssize_t)
    void subtract(CMat, Py_ssize_t, CMat, Py_ssize_t, double complex, Py_ssize_t)
    void subtract(CVec, Py_ssize_t, CMat, Py_ssize_t, double complex, Py_ssize_t)
    void subtract(CVec, Py_ssize_t, CVec, Py_ssize_t, double complex, Py_ssize_t)
    void subtract_rows[V](V, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    void add_product(Mat, Py_ssize_t, double, Mat, Py_ssize_t, Mat, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t)
    void add_row(Mat, Py_ssize_t, double, Mat, Py_ssize_t, Py_ssize_t)
    void mix(Vec, Py_ssize_t, double, Vec, double, Vec, Py_ssize_t)
    void mix(Mat, Py_ssize_t, double, Mat, double, Mat, Py_ssize_t)
    void mix(CMat, Py_ssize_t, double complex, CMat, double complex, CMat, Py_ssize_t)
    void prefetch[V](V, Py_ssize_t, Py_ssize_t)
    void combine(Py_ssize_t, Mat, Py_ssize_t, Mat, Mat, Mat, Py_ssize_t, Py_ssize_t, Py_ssize_t, Vec, IVec)
    void combine_two(Py_ssize_t, Mat, Mat, Py_ssize_t, Mat, Mat, Mat, Py_ssize_t, Py_ssize_t, Py_ssize_t, Vec, Vec, IVec)
    Py_ssize_t call_one(Py_ssize_t, Py_ssize_t)
    Py_ssize_t call_two(Py_ssize_t, Py_ssize_t, Py_ssize_t)
