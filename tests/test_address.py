"""An address is shown without what is secret in it, whatever it looks like."""

from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from covey.study.address import masked, masked_words
from covey.study.location import located

SHOWN = {
    "postgresql://me:secret@host/db": "postgresql://me:***@host/db",
    "postgresql+psycopg2://me:secret@host:5432/db": "postgresql+psycopg2://me:***@host:5432/db",
    "postgresql://:secret@host/db": "postgresql://:***@host/db",
    "postgresql://me:sec@ret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:sec/r?et@host/db": "postgresql://me:***",
    "postgresql://me:sec:ret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:s%40ecret@[::1]:5432/db": "postgresql://me:***@[::1]:5432/db",
    "postgresql://host/db?user=me&password=secret": "postgresql://host/db?user=me&password=***",
    "postgresql:///db?sslpassword=secret&user=me": "postgresql:///db?sslpassword=***",
    "postgresql://host/db?p%61ssword=secret": "postgresql://host/db?p%61ssword=***",
    "postgresql://host/db?PassWd=secret": "postgresql://host/db?PassWd=***",
    "postgresql://host/db?access_token=secret": "postgresql://host/db?access_token=***",
    "postgresql://host/db?api_key=secret#x": "postgresql://host/db?api_key=***",
    "nonsense+driver://me:secret@host": "nonsense+driver://me:***@host",
    "postgresql:///me:secret@host/db": "postgresql:///me:***@host/db",
    "postgresql:/me:secret@host/db": "postgresql:***@host/db",
    "me:secret@host": "me:***@host",
    "postgresql://host:5432/db?password=sec@ret": "postgresql://host:***",
    "postgresql://host/db?sslmode=secret&options=-c%20x%3Dsecret": "postgresql://host/db?sslmode=***",
    "postgresql://host/db?service=secret&passfile=secret": "postgresql://host/db?service=***",
    "postgresql://host/db?user=me;password=secret": "postgresql://host/db?user=***",
    "postgresql://host/db?secret": "postgresql://host/db?***",
    "postgresql://host/db?password=a;secret": "postgresql://host/db?password=***",
    "postgresql://host/db?user=npg_0123456789secret42": "postgresql://host/db?user=***",
    "postgresql://npg_0123456789secret42@host/db": "postgresql://***@host/db",
    "postgresql://npg_0123456789secret42:secret@host/db": "postgresql://***:***@host/db",
    "postgresql://me:secret": "postgresql://me:***",
    "postgresql://me:one@host:secret/db": "postgresql://me:***@host:***/db",
    "postgresql://me: sec ret @host/db": "postgresql://me:***@host/db",
    "postgresql://me:[secret]#@host/db": "postgresql://me:***@host/db",
    "sqlite:///x.db?key=secret": "sqlite:///x.db?key=***",
    "postgresql://me:one@host/db?password=secret": "postgresql://me:***@host/db?password=***",
}

OPEN = [
    "sqlite:///study.db",
    "sqlite:////home/me@work/a:b/study@home.db",
    "sqlite:///C:/me@work/study.db",
    "postgresql://host/db",
    "postgresql://me@host:5432/db?user=me&dbname=db",
    "postgresql://host/db?host=/var/run/socket&port=5433",
    "postgresql://[::1]:5432/db",
    "study.db",
    "",
]


@pytest.mark.parametrize(("address", "shown"), SHOWN.items())
def test_secrets_are_masked(address, shown):
    assert masked(address) == shown
    assert "secret" not in masked(address)


@pytest.mark.parametrize("address", OPEN)
def test_an_address_without_secrets_is_shown_as_it_is(address):
    assert masked(address) == address


@pytest.mark.parametrize("address", [*SHOWN, *OPEN])
def test_masking_again_changes_nothing(address):
    assert masked(masked(address)) == masked(address)


def test_addresses_in_a_text_are_masked():
    text = "no route\n to 'postgresql://me:secret@host/db': gave up at 10:30, ask me@host"
    assert masked_words(text) == "no route to 'postgresql://me:***@host/db': gave up at 10:30, ask me@host"


odd = st.text(st.sampled_from("@:/?#[]%&=; '\"a1{}\\\t\N{SNOWMAN}"), max_size=6)
PLACES = [
    "postgresql://me:{}@host:5432/db",
    "postgresql+psycopg://me:{}@host/db?application_name=x",
    "postgresql://me:{}@[::1]:5432/db",
    "postgresql://host/db?password={}",
    "postgresql://host/db?user=me&password={}&port=1",
    "postgresql:///db?host=/tmp&sslpassword={}",
    "postgresql://me:one@host/db?options={}",
    "nonsense://me:{}@host/db",
]


@given(odd, odd, st.sampled_from(PLACES), st.booleans())
@example("@", "", PLACES[0], False)
@example("a?b@", "/", PLACES[0], False)
@example("a@", "", PLACES[3], False)
def test_a_secret_of_any_characters_is_neither_shown_nor_taken_for_a_host(before, after, place, escaped):
    secret = f"{before}hunter2{after}"
    address = place.format(quote(secret, safe="") if escaped else secret)
    assert "hunter2" not in masked(address)
    said = taken_apart(address)
    assert "hunter2" not in said
    assert "refused" not in said or not escaped or place.startswith("nonsense")


def taken_apart(address):
    """What others get to see of an address, or the error about it."""
    try:
        url = located(address)
    except ValueError as error:
        return f"refused: {error} {error.__cause__} {error.__context__}"
    return f"{masked(url)} {url.host} {url.port} {url.database} {url.username}"
