"""The published OpenAPI document.

Views declare their operations with `blueprint.Blueprint`, with the headers and parameters of
`components`. `document.make_api` collects them, `document.make_document` builds the document and
`document.as_yaml` writes it. `structs` makes the schemas of answers, `converter` those of requests.
"""
