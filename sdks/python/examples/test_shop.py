"""How a program's own tests use a server of their own, and move its clock."""

from punctual.testing import Server


def test_a_reminder_is_due_after_a_week(punctual_server: Server) -> None:
    client = punctual_server.client
    client.push("reminders", {"to": "ada"}, delay="7d")
    assert client.take("reminders")["tasks"] == []
    punctual_server.advance("7d")
    assert client.take("reminders")["tasks"][0]["payload"] == {"to": "ada"}
