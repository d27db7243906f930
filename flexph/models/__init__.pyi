"""The public names of :mod:`flexph.models`: each is loaded when it is asked for."""

from .loading import ModelFile as ModelFile
from .loading import load_model as load_model
from .reading.tree import ModelError as ModelError
from .schema.document import Kinds as Kinds
from .schema.document import model_schema as model_schema
from .writing import to_model as to_model
from .writing import write_model as write_model
