"""The model clients of a run: one for all arms of the same models."""

from __future__ import annotations

from collections.abc import Mapping

from egomem.evaluate.budget import RunBudget
from egomem.evaluate.config import Arm, Config
from egomem.memory.replies import ReplyCache
from egomem.models import ModelClient, RequestPolicy


class ModelClients:
    """Makes clients when they are first asked for; `budget` counts and limits what they send."""

    def __init__(
        self,
        config: Config,
        cache: ReplyCache,
        budget: RunBudget,
        policy: RequestPolicy,
        environ: Mapping[str, str],
    ) -> None:
        self._config = config
        self._cache = cache
        self._budget = budget
        self.policy = policy
        self._environ = environ
        self._clients: dict[Arm, ModelClient] = {}

    def of(self, arm: Arm) -> ModelClient | None:
        """The client of an arm; None where it asks no model."""
        if not arm.reader:
            return None
        key = arm.model_copy(update={"setting": ""})
        if key not in self._clients:
            self._clients[key] = ModelClient(
                self._by_role(arm),
                limits=self._config.limits(arm.reader),
                policy=self.policy,
                cache=self._cache,
                environ=self._environ,
                before_send=self._budget.hold,
            )
        return self._clients[key]

    def specs(self, arm: Arm) -> list[str]:
        """The models that an arm asks."""
        if not arm.reader:
            return []
        by_role = self._by_role(arm)
        if not self._config.condition(arm).verifies:
            del by_role["verifier"]
        return list(by_role.values())

    def _by_role(self, arm: Arm) -> dict[str, str]:
        specs = {"reader": arm.reader, "verifier": self._config.verifier or arm.reader}
        return specs | ({"captioner": arm.captioner} if arm.captioner else {})
