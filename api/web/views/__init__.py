"""The routes: one module a resource. A view reads as a contract and leaves the work to others.

Those of `BLUEPRINTS` make up the document; `pages` is for people alone.
"""

from api.web.views import analysis, games, me, metrics, play, players, rulesets, service

BLUEPRINTS = (
    service.blueprint,
    metrics.blueprint,
    rulesets.blueprint,
    players.blueprint,
    me.blueprint,
    games.blueprint,
    play.blueprint,
    analysis.blueprint,
)
