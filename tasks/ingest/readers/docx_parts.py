"""The parts of a Word package.

They are the main one, and those beside it that may be missing or damaged.
"""

from __future__ import annotations

import posixpath
import zipfile
from functools import cached_property

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
        found: list[bytes] = []
        for element in self.read_main().iter():
            if (
                local_name(element) not in ("drawing", "pict")
                or is_deleted(element)
                or not shows_picture(element)
            ):
                continue
            found += [read_part(self.package, part) for part, _ in self.list_pictures(element)]
        return found

    def list_pictures(self, element: etree._Element) -> list[tuple[str, str | None]]:
        """The parts that a drawing shows as pictures, each with what its author says that it shows.

        Those that lie outside the package, at an address, are not among them.
        """
        found: list[tuple[str, str | None]] = []
        alt_text: str | None = None
        for node, is_fallback in walk_object(element):
            name = local_name(node)
            if name in ("docPr", "cNvPr"):
                alt_text = node.get("descr") or alt_text
            elif name in ("blip", "imagedata") and not is_fallback:
                path = self.targets.get(read_attribute(node, "embed") or read_attribute(node, "id") or "")
                if path in self.names:
                    found.append((path, alt_text or node.get("alt") or None))
        return found

    @cached_property
    def targets(self) -> dict[str, str]:
        """The parts that the main document names, by the ids under which it does."""
        folder, name = posixpath.split(self.main)
        relations = self.read(f"_rels/{name}.rels")
        return {
            relation.get("Id") or "": posixpath.normpath(
                posixpath.join(folder, relation.get("Target") or "")
            ).lstrip("/")
            for relation in (relations if relations is not None else ())
            if relation.get("TargetMode") != "External"
        }

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
