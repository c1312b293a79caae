# Tell what is due, as far as it can be told from here; nothing where there is no home.
from .delivery import deliver as deliver

# Tell everybody whom the settings name of what is due; returns how many ends everybody has been told of.
from .delivery import deliver_notices as deliver_notices

# Recipients as they are named: `command:PROGRAM ARGUMENT …`, or the https address of a web hook.
from .notices import read_recipients as read_recipients
