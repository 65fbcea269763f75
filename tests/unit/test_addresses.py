"""The caller's address: what proxies add, what is believed of it, and what counts as one caller."""

from ipaddress import ip_network

import pytest

from api.observability.addresses import (
    LOCAL,
    MAX_ADDRESS_LENGTH,
    MAX_PROXIES,
    Proxies,
    group,
)

PROXIES = Proxies([ip_network("10.0.0.0/8"), ip_network("2001:db8:ffff::/48")])


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "caller"),
    [
        pytest.param("10.0.0.1", None, "10.0.0.1", id="nothing is said"),
        pytest.param("10.0.0.1", "", "10.0.0.1", id="nothing is listed"),
        pytest.param("10.0.0.1", "192.0.2.1", "192.0.2.1", id="one proxy"),
        pytest.param("10.0.0.1", "192.0.2.1, 10.0.0.2 , 10.0.0.3", "192.0.2.1", id="three proxies"),
        pytest.param("10.0.0.1", "6.6.6.6, 192.0.2.1", "192.0.2.1", id="a client adds one"),
        pytest.param("192.0.2.1", "6.6.6.6", "192.0.2.1", id="no proxy"),
        pytest.param("10.0.0.1", "10.0.0.2", "10.0.0.2", id="a proxy calls itself"),
        pytest.param("10.0.0.1", "6.6.6.6, nonsense", "10.0.0.1", id="unreadable"),
        pytest.param("10.0.0.1", "192.0.2.1,", "10.0.0.1", id="an empty item"),
        pytest.param("10.0.0.1", "192.0.2.1:4711", "192.0.2.1", id="with a port"),
        pytest.param("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::/56", id="brackets and a port"),
        pytest.param("10.0.0.1", "[2001:db8::1]", "2001:db8::/56", id="brackets"),
        pytest.param("2001:db8:ffff::1", "192.0.2.1", "192.0.2.1", id="a proxy of the new kind"),
        pytest.param("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1", id="a mapped proxy"),
        pytest.param("", "192.0.2.1", LOCAL, id="a Unix socket"),
        pytest.param("10.0.0.1", " " * 5 + "192.0.2.1" + " " * 80, "192.0.2.1", id="blanks"),
    ],
)
def test_a_list_is_believed_as_far_as_trusted_proxies_wrote_it(
    peer: str, forwarded_for: str | None, caller: str
) -> None:
    assert PROXIES.caller(peer, forwarded_for) == caller
    assert Proxies().caller(peer, forwarded_for) == group(peer)


def test_only_the_last_addresses_of_a_list_are_read() -> None:
    proxies = [f"10.0.0.{number}" for number in range(MAX_PROXIES)]
    assert PROXIES.caller("10.1.0.0", ",".join(["192.0.2.1", *proxies[1:]])) == "192.0.2.1"
    # What comes before is one item, which is no address.
    too_many = ",".join(["6.6.6.6", "192.0.2.1", *proxies])
    assert PROXIES.caller("10.1.0.0", too_many) == proxies[0]


def test_a_longer_text_than_any_address_is_none() -> None:
    address = "[" + "0:" * 7 + "1]:"
    port = "4" * (MAX_ADDRESS_LENGTH - len(address))
    assert group(address + port) == "::/56"
    assert group(address + port + "4") == LOCAL


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1ff::1", "2001:db8:0:100::/56"),
        ("2001:db8:0:200::1", "2001:db8:0:200::/56"),
        ("", LOCAL),
        ("localhost", LOCAL),
        ("192.0.2.256", LOCAL),
        ("192.0.2.1:port", LOCAL),
    ],
)
def test_a_household_counts_as_one_caller(address: str, counted: str) -> None:
    assert group(address) == counted


@pytest.mark.parametrize(
    ("peer", "is_trusted"),
    [
        ("10.255.0.1", True),
        ("11.0.0.1", False),
        ("2001:db8:ffff::1", True),
        ("2001:db8::1", False),
        ("", False),
    ],
)
def test_a_proxy_is_trusted_if_its_network_is_listed(peer: str, is_trusted: bool) -> None:
    assert PROXIES.trust(peer) == is_trusted
    assert not Proxies().trust(peer)
