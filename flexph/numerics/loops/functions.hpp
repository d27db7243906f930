// Functions of a user that loops call with numbers, at the addresses of flexph.numerics.loops.functions.
#pragma once
#include <Python.h>
#include <cmath>

namespace flexph {

// True if an interruption (Ctrl-C) of a function has not been told by this thread yet.
inline bool interrupted(PyObject *errors) {
    if (PyDict_Size(errors) == 0) return false;
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *before = thread ? PyDict_GetItemWithError(errors, thread) : NULL;
    PyObject *last = before ? PyTuple_GetItem(before, 2) : NULL;
    Py_XDECREF(thread);
    return last && PyObject_IsInstance(last, PyExc_BaseException) == 1 &&
        PyObject_IsInstance(last, PyExc_Exception) == 0;
}

// Keep what a function raised or returned as the error of this thread.
inline double failed(PyObject *function, PyObject *errors, PyObject *given, PyObject *result) {
    PyObject *type = NULL, *error = NULL, *trace = NULL;
    PyErr_Fetch(&type, &error, &trace);
    if (type) {
        PyErr_NormalizeException(&type, &error, &trace);
        if (trace && error) PyException_SetTraceback(error, trace);
    } else if (result) {
        error = PyFloat_FromDouble(PyFloat_AsDouble(result));
    }
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (thread && error) {
        PyObject *entry = PyTuple_Pack(3, function, given ? given : Py_None, error);
        if (entry) PyDict_SetItem(errors, thread, entry);
        Py_XDECREF(entry);
    }
    PyErr_Clear();
    Py_XDECREF(thread); Py_XDECREF(type); Py_XDECREF(error); Py_XDECREF(trace);
    return NAN;
}

// Value of a function at the address of a pair (function, errors); NaN if it raises or is not finite. Nothing of Python
// runs here outside of the function, so that an interruption, which Python raises between its own instructions, is
// an error of the function. After one no function is called until the interruption is told: the steps end there.
inline double called(Py_ssize_t address, int count, double x, double y, double z) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *pair = (PyObject *)address, *function = PyTuple_GetItem(pair, 0), *errors = PyTuple_GetItem(pair, 1);
    if (interrupted(errors)) {
        PyGILState_Release(state);
        return NAN;
    }
    PyObject *given = count == 1 ? Py_BuildValue("(d)", x) : Py_BuildValue("(ddd)", x, y, z);
    PyObject *result = given ? PyObject_CallObject(function, given) : NULL;
    double value = result ? PyFloat_AsDouble(result) : NAN;
    if (!std::isfinite(value) || PyErr_Occurred()) value = failed(function, errors, given, result);
    Py_XDECREF(result);
    Py_XDECREF(given);
    PyGILState_Release(state);
    return value;
}
inline double call_real(Py_ssize_t address, double x) { return called(address, 1, x, 0.0, 0.0); }
inline double call_three(Py_ssize_t address, double x, double y, double z) { return called(address, 3, x, y, z); }

}  // namespace flexph
