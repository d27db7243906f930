"""Functions that numba compiles once into the entry that calls them, without machine code of their own; needs numba.

numba by itself optimises and emits every function with all that it calls, and again with each caller: of nested loops
the innermost is compiled once for every level above it. Here *inner* functions stay LLVM's intermediate code, and an
*entry*, which Python calls and which may be kept on disk, links all that it reaches once. The machine code is the same.

What is left is spent on writing and reading intermediate code: entries of arrays take a short way to it
(``lowering.py``), inner functions are optimised only where they are linked, and *plain* functions, loops over numbers
without closures, comprehensions and expressions of arrays, are spared the passes that look for these.

That is done by parts of numba that are not its public interface. With versions where it was not tried, functions are
compiled in numba's own way, which takes twice as long and comes to the same.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import _dynfunc
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, Flags
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

from .lowering import EntryLowering

TRIED = (0, 61), (0, 68)
"""First and last version of numba with which functions are linked."""
ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of variables begin that point to the constants of a function."""
NOT_PLAIN = frozenset(
    {
        untyped_passes.WithLifting,
        untyped_passes.InlineClosureLikes,
        untyped_passes.MakeFunctionToJitFunction,
        untyped_passes.InlineInlinables,
        untyped_passes.FindLiterallyCalls,
        untyped_passes.LiteralUnroll,
        untyped_passes.LiteralPropagationSubPipelinePass,
        typed_passes.InlineOverloads,
        typed_passes.NopythonRewrites,
    }
)
"""Passes that look for what plain functions do not have."""


def inner(function: Callable[..., Any], *, plain: bool = False, **options: Any) -> Any:
    """A function that only compiled ones call; TypeError where Python does."""
    if numba.config.DISABLE_JIT:
        return function
    options |= {"nopython": True, "boundscheck": None, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    linked = _PlainLinked if plain else _Linked
    return _Inner(function, targetoptions=options, pipeline_class=linked if _links() else Compiler)


def entry(function: Callable[..., Any], *, plain: bool = False, **options: Any) -> Any:
    """A function that Python calls, compiled with all that it reaches."""
    linking = _PlainLinking if plain else _Linking
    return numba.njit(function, pipeline_class=linking if _links() else Compiler, **options)


def code_of(dispatcher: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The code of an entry for arguments of these types, compiled where it is not yet there.

    Called by itself it does not look at the types of its arguments, which must stay the same: that takes longer than a
    short loop. Arrays of another layout than these lead it anywhere.
    """
    if numba.config.DISABLE_JIT:
        return dispatcher
    types = tuple(map(numba.typeof, arguments))
    dispatcher.compile(types)
    return dispatcher.get_overload(types)


def _links() -> bool:
    first, last = TRIED
    return first <= tuple(numba.version_info[:2]) <= last


class _Inner(CPUDispatcher):
    """A compiled function without an entry for Python, one for all numbers of a kind: numba has others for literals."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How a compiled function calls it."""
        return super().get_call_template(tuple(map(unliteral, args)), {k: unliteral(v) for k, v in kws.items()})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is called by compiled functions only; its .py_func is for Python")


class _Part(JITCodeLibrary):
    """The code of an inner function, which is optimised and emitted where it is linked."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        """Leave the code as it is."""
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        """Leave that, too, to where the code is linked."""
        module.data_layout = self._codegen._data_layout


class _Whole(_Part):
    """The code of an entry and of all that it reaches."""

    def finalize(self) -> None:
        """Link, optimise and emit."""
        self._linking_libraries = _reached(self._linking_libraries)
        JITCodeLibrary.finalize(self)
        for variable in self._final_module.global_variables:
            known = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if known is not None:
                self._codegen.set_env(variable.name, known)

    def _optimize_final_module(self) -> None:
        """Keep the symbols of functions that call themselves, which are looked up when all is loaded.

        Such code is not kept on disk: numba, which takes it to be complete, crashes where it is read again.
        """
        for variable in self._final_module.global_variables:
            if variable.name.startswith(RuntimeLinker.PREFIX):
                name = variable.name.removeprefix(RuntimeLinker.PREFIX)
                self._final_module.get_function(name).linkage = "external"
                self._dynamic_globals.append(variable.name)
        super()._optimize_final_module()


def _reached(libraries: list[Any]) -> list[Any]:
    """Libraries, and those that they are linked with where they are no machine code."""
    reached: dict[Any, None] = {}
    left = list(libraries)
    while left:
        library = left.pop()
        if library not in reached:
            reached[library] = None
            left += library._linking_libraries if isinstance(library, _Part) else ()
    return list(reached)


class _Options(Flags):
    """Options of a compilation, which numba compares for each operator of a function: quickly."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(_Options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and self._values == other._values


class _Short(Compiler):
    """A compilation with the short way to entries of arrays."""

    left_out: frozenset[Any] = frozenset()

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            passes = [(step, text) for step, text in pipeline.passes if step not in self.left_out]
            pipeline.passes = [
                (EntryLowering if step is typed_passes.NativeLowering else step, text) for step, text in passes
            ]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines


class _Linked(_Short):
    """How an inner function is compiled."""

    def compile_extra(self, function: Any) -> Any:
        """The function as code to be linked."""
        state = self.state
        state.flags = _Options(state.flags)
        state.flags.no_compile = True
        state.library = _Part(state.targetctx.codegen(), function.__qualname__)
        result = super().compile_extra(function)
        module, kept = result.fndesc.lookup_module(), (result.library,)
        key = _dynfunc.make_function(module, function.__name__, "", 0, result.environment, kept)
        state.targetctx.insert_user_function(key, result.fndesc, [result.library])
        return result._replace(entry_point=key)


class _Linking(_Short):
    """How an entry is compiled."""

    def compile_extra(self, function: Any) -> Any:
        """The function as machine code, with all that it reaches."""
        state = self.state
        state.flags = _Options(state.flags)
        state.library = _Whole(state.targetctx.codegen(), function.__qualname__)
        state.library.enable_object_caching()
        with _without_collection():
            return super().compile_extra(function)


class _PlainLinked(_Linked):
    """How a plain inner function is compiled."""

    left_out = NOT_PLAIN


class _PlainLinking(_Linking):
    """How a plain entry is compiled."""

    left_out = NOT_PLAIN


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without the search for cycles of objects: a tenth of the time of compiling, for a tenth more memory."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
