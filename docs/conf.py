"""Configuration of Sphinx: ``python -m sphinx -W -n -b html -d docs/_cache/doctrees docs site`` writes the site."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "samples"))
sys.path.insert(0, str(Path(__file__).parent / "_ext"))
import flexph

os.environ.pop("MPLBACKEND", None)  # notebooks show their figures in the page

project = "flexph"
author = "the flexph developers"
version = release = flexph.__version__
extensions = [
    "myst_nb",  # pages and executed notebooks of Markdown
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "flexph_site",
    "launch",
]
exclude_patterns = ["_cache", "_ext", "_static"]

html_theme = "furo"
html_title = f"flexph {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_cache_path = str(Path(__file__).parent / "_cache" / "notebooks")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_excludepatterns = [] if find_spec("gmsh") else ["tutorials/from-a-drawing.md"]  # needs flexph[cad]
nb_output_stderr = "remove"  # that loops are compiled, and the like

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False  # autodoc writes them
default_role = "code"

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
linkcheck_ignore = [r"https?://.*"]  # links out of the site need a network
