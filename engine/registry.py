"""The games that there are. A new ruleset is one module and one line here."""

from __future__ import annotations

from typing import Any

from engine.contrast import CONTRAST
from engine.mit_list_und_tuecke import MIT_LIST_UND_TUECKE
from engine.parade import PARADE
from engine.ruleset import Ruleset
from engine.tea_time import TEA_TIME

RULESETS: dict[str, Ruleset[Any, Any, Any, Any, Any]] = {
    ruleset.id: ruleset for ruleset in (PARADE, TEA_TIME, CONTRAST, MIT_LIST_UND_TUECKE)
}
