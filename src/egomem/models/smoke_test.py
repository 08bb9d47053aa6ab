"""One tiny request to a role's model, for `egomem models test` and `egomem doctor`."""

from __future__ import annotations

from importlib.resources import files

from egomem.models.client import ModelClient
from egomem.models.reply import Reply
from egomem.models.request import ContentPart, ImagePart, Request, TextPart
from egomem.models.roles import Role

VISION_ROLES = (Role.CAPTIONER, Role.READER, Role.VERIFIER)


async def send_test_request(models: ModelClient, role: Role) -> Reply:
    """The reply of a role's model to one tiny request.

    Roles that see frames are asked for the colour of a red square, others for one word.
    """
    parts: tuple[ContentPart, ...]
    if role in VISION_ROLES:
        # 64 x 64 pixels: some models refuse images of less than 28.
        square = (files("egomem.models") / "red.jpg").read_bytes()
        question = "What colour is this square? Answer with one word."
        parts = (ImagePart(square), TextPart(question))
    else:
        parts = (TextPart("Answer with the one word: ready"),)
    return await models.ask(Request(role, parts, "models-test@1", max_tokens=512))
