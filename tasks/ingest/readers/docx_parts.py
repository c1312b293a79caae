"""The parts of a Word package.

They are the main one, and those beside it that may be missing or damaged.
"""

from __future__ import annotations

import posixpath
import zipfile

from lxml import etree

from schemas.errors import DocumentError
from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.docx_elements import is_deleted, parse_xml, shows_picture, walk_object
from tasks.ingest.readers.numbering import local_name, read_attribute


class Parts:
    """One package. `warnings` says which parts were left out."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self.package = package
        self.names = set(package.namelist())
        self.warnings: list[str] = []
        self.main = self._find_main()
        self.folder = posixpath.dirname(self.main)

    def read_main(self) -> etree._Element:
        """The main document.

        Raises:
            DocumentError: `corrupt` where it is no well-formed XML.
        """
        return parse_xml(read_part(self.package, self.main), self.main)

    def _find_main(self) -> str:
        if "_rels/.rels" in self.names:
            root = parse_xml(read_part(self.package, "_rels/.rels"), "_rels/.rels")
            for relation in root:
                if (relation.get("Type") or "").endswith("/officeDocument"):
                    return (relation.get("Target") or "").lstrip("/")
        if "word/document.xml" in self.names:
            return "word/document.xml"
        raise DocumentError("corrupt", "The package has no main document. Save it again in Word.")

    def read(self, name: str) -> etree._Element | None:
        """A part beside the main one.

        None where there is none, or where it is damaged: a warning says so.
        """
        path = posixpath.join(self.folder, name)
        if path not in self.names:
            return None
        try:
            return parse_xml(read_part(self.package, path), path)
        except DocumentError as error:
            if error.code != "corrupt":
                raise
            self.warnings.append(f"The part {path} is damaged and was left out.")
            return None

    def read_pictures(self) -> list[bytes]:
        """The pictures that the main document shows at a size to be read, in the order of its text."""
        folder, name = posixpath.split(self.main)
        relations = self.read(f"_rels/{name}.rels")
        targets = {
            relation.get("Id"): posixpath.normpath(posixpath.join(folder, relation.get("Target") or ""))
            for relation in (relations if relations is not None else ())
        }
        found: list[bytes] = []
        for element in self.read_main().iter():
            if (
                local_name(element) not in ("drawing", "pict")
                or is_deleted(element)
                or not shows_picture(element)
            ):
                continue
            for node, is_fallback in walk_object(element):
                path = targets.get(read_attribute(node, "embed") or read_attribute(node, "id"))
                if local_name(node) in ("blip", "imagedata") and not is_fallback and path in self.names:
                    found.append(read_part(self.package, path))
        return found

    def read_notes(self, name: str) -> dict[str, str]:
        """The texts of footnotes or endnotes by their ids."""
        root = self.read(name)
        notes: dict[str, str] = {}
        for element in root if root is not None else ():
            if read_attribute(element, "type") in (
                "separator",
                "continuationSeparator",
                "continuationNotice",
            ):
                continue
            text = "".join(
                node.text or "" for node in element.iter() if local_name(node) == "t" and not is_deleted(node)
            ).strip()
            if text:
                notes[read_attribute(element, "id") or ""] = text
        return notes
