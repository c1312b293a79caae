# The application.
from .app import create_app as create_app
