// Structures of views from tuples of arrays, in the order of their fields: 32 bytes an array, 8 a number.
#pragma once
#include <Python.h>
#include <cstddef>
#include <cstring>

namespace flexph {

inline char *bound(PyObject *value, char *at, char *end) {
    if (PyTuple_Check(value)) {
        Py_ssize_t n = PyTuple_Size(value);
        for (Py_ssize_t i = 0; at && i < n; i++) at = bound(PyTuple_GetItem(value, i), at, end);
        return at;
    }
    if (PyFloat_Check(value) || PyLong_Check(value)) {
        if (at + 8 > end) { PyErr_SetString(PyExc_TypeError, "more values than the structure has fields"); return NULL; }
        if (PyFloat_Check(value)) {
            double number = PyFloat_AsDouble(value);
            std::memcpy(at, &number, 8);
        } else {
            std::ptrdiff_t number = PyLong_AsSsize_t(value);
            if (number == -1 && PyErr_Occurred()) return NULL;
            std::memcpy(at, &number, 8);
        }
        return at + 8;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_C_CONTIGUOUS | PyBUF_ND) != 0) return NULL;
    std::ptrdiff_t row[4] = {(std::ptrdiff_t)view.buf, 1, 1, 1};
    bool fits = view.ndim <= 3 && view.itemsize >= 8 && at + 32 <= end;
    for (int i = 0; fits && i < view.ndim; i++) row[1 + i] = view.shape[i];
    PyBuffer_Release(&view);
    if (!fits) {
        PyErr_SetString(PyExc_TypeError, "arrays must be of float64, int64 or complex128, of at most three axes, and as many as the structure has fields");
        return NULL;
    }
    std::memcpy(at, row, 32);
    return at + 32;
}

// Fill a structure; 0, or -1 with an exception set. The arrays must outlive it.
template <class T> int bind(T &structure, PyObject *value) {
    char *begin = (char *)&structure, *end = begin + sizeof(T), *last = bound(value, begin, end);
    if (!last) return -1;
    if (last != end) { PyErr_SetString(PyExc_TypeError, "fewer values than the structure has fields"); return -1; }
    return 0;
}

}  // namespace flexph
