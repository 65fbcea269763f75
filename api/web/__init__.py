"""The HTTP layer: the only package that knows Flask.

`app` makes the application, `wiring` its services. `middleware` begins and ends each request,
`rate_limits` counts it, `views` answer it, `responses` and `problem_responses` render the answer.
`schemas` check request bodies, `openapi` writes the document, `pages` serves browsers.
"""
