"""The public names of this room: each is loaded when it is asked for."""

from .laws import Hertz as Hertz
from .laws import KelvinVoigt as KelvinVoigt
from .laws import Rigid as Rigid
from .pairs import contact as contact
from .pairs import mutual_contact as mutual_contact
from .restitution import restitution_damping as restitution_damping
from .restitution import restitution_loss as restitution_loss
from .shapes import Cylinder as Cylinder
from .shapes import Hole as Hole
from .shapes import Plane as Plane
from .shapes import Rim as Rim
from .shapes import Sphere as Sphere
from .skins import Skin as Skin
from .stops import stop as stop
from .surfaces import Box as Box
from .surfaces import Capsule as Capsule
from .surfaces import Mesh as Mesh
