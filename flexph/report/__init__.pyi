"""The public names of :mod:`flexph.report`: each is loaded when it is asked for."""

from .reports import write_report as write_report
