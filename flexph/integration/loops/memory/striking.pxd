from ....contacts.loops.island_space cimport LawSpace
from .structures cimport Between

cdef struct Striking:
    LawSpace law
    Py_ssize_t kinds
    Py_ssize_t by_events
    Between between
