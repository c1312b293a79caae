# Which of these packages the advisories are about, in order of the package.
from .advisories import find_advisories as find_advisories

# The advisories about Python packages in a file or folder in OSV's form; raises UsageError where there is none.
from .advisories import read_advisories as read_advisories

# What is installed here, and why: Proctor, what it needs, what that needs.
from .installed import list_packages as list_packages

# The packages as a software bill of materials: CycloneDX 1.6, as JSON.
from .installed import describe_materials as describe_materials
