"""Stand-ins for tests, ours and those of extensions: a model server with scripted replies.

Only tests and `egomem fake-server` use it.
"""

from egomem.testing.scripted_replies import ReceivedRequest, Rule, Script
from egomem.testing.scripted_server import ScriptedServer

__all__ = ["ReceivedRequest", "Rule", "Script", "ScriptedServer"]
