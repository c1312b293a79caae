# The texts of a question that may hold pictures, by place, each with what stands there.
from .store import list_marked as list_marked

# What stands in a text for picture `number` of its question.
from .store import PICTURE as PICTURE

# The text without its pictures, as a reader without eyes meets it.
from .store import leave_out_pictures as leave_out_pictures

# The pictures of a row as its texts hold them: those no longer named are left out, each has the place where it is first named.
from .store import place_pictures as place_pictures

# The text that stands for a picture in the text of its question.
from .store import write_mark as write_mark

# The bytes of a picture in an archive; raises StoreError for one that is lost or is not what its hash says.
from .store import read_picture as read_picture

# Put a picture of an archive into a folder that other users read; one that is there stays.
from .store import copy_picture as copy_picture

# PNG or JPEG, as the first bytes of a kept picture say.
from .store import name_media_type as name_media_type

# Where the bytes of a picture lie in an archive.
from .store import name_picture as name_picture

# Pictures by question with `alt_text`, what people said they show; null where none has any.
from .store import tell_pictures as tell_pictures
