"""Routes, one module for each resource. Views declare the contract and call the services.

The document is generated from `BLUEPRINTS`; `pages` serves browsers and is not part of it.
"""

from api.web.views import analysis, games, match, me, metrics, play, players, rulesets, service

BLUEPRINTS = (
    service.blueprint,
    metrics.blueprint,
    players.blueprint,
    rulesets.blueprint,
    me.blueprint,
    games.blueprint,
    match.blueprint,
    play.blueprint,
    analysis.blueprint,
)
