"""Server-Sent Events, as they come in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class Event:
    """Something that happened at the server. `id` is where a stream can go on."""

    type: str
    id: Optional[str]
    data: Dict[str, Any] = field(default_factory=dict)


class Reader:
    """Puts lines together to events and remembers where the stream is."""

    def __init__(self, last_id: Optional[str]) -> None:
        self.last_id = last_id
        self._data: List[str] = []
        self._type: Optional[str] = None

    def line(self, line: str) -> Optional[Event]:
        """Reads a line; answers the event that it ends."""
        if line:
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._type = value
            elif name == "id":
                self.last_id = value
            return None
        data, type_ = self._data, self._type
        self._data, self._type = [], None
        if not data and type_ is None:
            return None
        told = json.loads("\n".join(data)) if data else {}
        return Event(type_ or told.get("type", "message"), self.last_id, told)

    def restart(self) -> None:
        """Forgets half an event of a stream that broke off."""
        self._data, self._type = [], None
