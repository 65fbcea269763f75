"""Errors as values: `problem.Problem` is raised by any layer, `catalogue` lists every code.

Nothing in here knows HTTP's response objects: `api.web.problem_responses` renders a problem.
"""
