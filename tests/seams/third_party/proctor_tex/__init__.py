from importlib.resources import files

ANALYSES = files("proctor_tex.analyses")
