"""Generators read the published document, and find no fault with it."""

import re

import pytest

from tests.clients.generators import GENERATORS, Make

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_warns_of_nothing_that_is_the_documents_fault(
    name: str, client: Make, warned: dict[str, list[str]]
) -> None:
    client(name)
    generator = GENERATORS[name]
    allowed = [*generator.warnings, *generator.noise]
    for warning in warned[name]:
        assert any(re.search(pattern, warning) for pattern in allowed), warning
    for pattern in generator.warnings:
        assert any(re.search(pattern, warning) for warning in warned[name]), f"no longer: {pattern}"
