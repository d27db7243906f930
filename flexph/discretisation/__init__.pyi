"""The public names of :mod:`flexph.discretisation`: each is loaded when it is asked for."""

from .own_pair import with_pair as with_pair
