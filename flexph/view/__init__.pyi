"""The public names of :mod:`flexph.view`: each is loaded when it is asked for."""

from .gltf import write_glb as write_glb
from .html import html_fragment as html_fragment
from .html import library_script as library_script
from .html import write_html as write_html
from .html import write_library as write_library
from .live.dials import Dial as Dial
from .live.live import Live as Live
from .pictures import write_film as write_film
from .pictures import write_picture as write_picture
from .window import show as show
