"""The pictures of Contrast: 74 abstract compositions, `picture-1` to `picture-74`.

Each is a case for several symbols at once: one large thin red ring beside many small heavy blue
squares is `big`, `thin`, `red`, `round`, and none of them beyond doubt. Its declaration lists the
symbols that players can argue for; all twelve are equally often among them, more or less. A colour
is listed if the picture has it. No picture is told from another by colour alone.

A picture never changes: records and replays show what the players saw, and caches keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from engine.pictures.drawing import (
    SIDE,
    Form,
    Picture,
    around,
    block,
    disc,
    frame,
    group,
    number,
    oval,
    polyline,
    ring,
    shape,
    spots,
    squares,
    stroke,
)

# The four colours of the game differ in lightness too; the others are no symbol's.
RED, BLUE, YELLOW, GREEN = "#e2402f", "#1745a8", "#f6bb1a", "#25ae7e"
INK, STONE, MIST, WHITE = "#23232b", "#8b8f99", "#dfe2e6", "#ffffff"
PAPER, SAND, NIGHT = "#f8f2e4", "#ead9ba", "#1b2133"

MIDDLE = SIDE / 2


PICTURES: dict[str, Picture] = {}
"""All pictures, by name."""

Forms = Callable[[], list[Form]]


def argues_for(*symbols: str, on: str = PAPER) -> Callable[[Forms], Forms]:
    """Declare the next picture: the symbols that players can argue for, and its background."""

    def declare(forms: Forms) -> Forms:
        PICTURES[f"picture-{len(PICTURES) + 1}"] = Picture(symbols, on, forms)
        return forms

    return declare


# --- Alone and many -----------------------------------------------------------------------------


@argues_for("big", "thin", "red", "round", "small", "heavy", "blue", "square")
def ring_beside_squares() -> list[Form]:
    """A wide thin ring over a heap of small squares."""
    heap = [
        block(24 + 27 * column + 13 * (row % 2), 222 - 23 * row, 20, 20)
        for row in range(3)
        for column in range(7 - row)
    ]
    return [ring(132, 88, 76, 3, RED), group(BLUE, *heap)]


@argues_for("red", "big", "square", "small", "blue", on=RED)
def speck_on_a_field() -> list[Form]:
    """A field of colour with a speck in it."""
    return [block(186, 178, 13, 13, BLUE, turn=12)]


@argues_for("small", "round", "green", "big", "red", "square", "heavy", "fat")
def square_in_a_crowd() -> list[Form]:
    """A square that presses a crowd of discs aside."""
    crowd = [disc(x, y, 6) for x, y in spots(3, 80, 15, 9) if not (78 < x < 186 and 58 < y < 166)]
    return [group(GREEN, *crowd), block(132, 112, 84, 84, RED)]


@argues_for("square", "small", "blue", "round", "big", "light")
def gap_among_squares() -> list[Form]:
    """A disc that is only a gap among small squares."""
    lattice = range(9, SIDE, 15)
    rest = [(x, y) for x in lattice for y in lattice if (x - 129) ** 2 + (y - 114) ** 2 > 82**2]
    return [shape(squares(10, rest), BLUE)]


@argues_for("round", "square", "green", "small", "big")
def square_of_discs() -> list[Form]:
    """Discs in the form of a square."""
    return [group(GREEN, *(disc(x, y, 15) for x in range(52, 200, 34) for y in range(52, 200, 34)))]


@argues_for("square", "round", "yellow", "light", "small", on=NIGHT)
def circle_of_squares() -> list[Form]:
    """Small squares in the form of a circle, which thins out."""
    beads = []
    for step in range(20):
        x, y = around(MIDDLE, MIDDLE, 84, 18 * step - 90)
        beads.append(block(x, y, 24 - step, 24 - step, turn=18 * step))
    return [group(YELLOW, *beads)]


@argues_for("small", "light", "red", "blue", "yellow", "green")
def confetti() -> list[Form]:
    """Scraps of all colours and forms."""
    scraps = []
    for place, (x, y) in enumerate(spots(9, 36, 25, 16)):
        color = (RED, BLUE, YELLOW, GREEN)[place % 4]
        match place % 3:
            case 0:
                scraps.append(disc(x, y, 5, color))
            case 1:
                scraps.append(block(x, y, 10, 10, color, turn=29 * place))
            case _:
                scraps.append(block(x, y, 18, 3, color, turn=47 * place))
    return scraps


@argues_for("round", "small", "big", "yellow", "blue", "light", on=BLUE)
def growing_discs() -> list[Form]:
    """A swarm whose members grow towards a corner."""
    return [
        group(
            YELLOW,
            *(
                disc(18 + 34 * column, 222 - 34 * row, 1.5 + 1.2 * (row + column))
                for row in range(7)
                for column in range(7)
            ),
        )
    ]


@argues_for("square", "big", "small", "red", "blue", "yellow", "green", "round", on=MIST)
def nest() -> list[Form]:
    """Forms within forms, round and square by turns."""
    return [
        block(120, 120, 208, 208, GREEN),
        disc(120, 120, 96, YELLOW),
        block(120, 120, 128, 128, BLUE, turn=45),
        disc(120, 120, 58, RED),
        block(120, 120, 52, 52, WHITE),
        disc(120, 120, 10, INK),
    ]


@argues_for("red", "small", "round", "square", "blue", "big", on=BLUE)
def one_round_tile() -> list[Form]:
    """A wall of tiles, one of which is round."""
    lattice = range(28, SIDE, 46)
    rest = [(x, y) for x in lattice for y in lattice if (x, y) != (166, 74)]
    return [shape(squares(39, rest), WHITE), disc(166, 74, 19.5, RED)]


# --- Fat and thin -------------------------------------------------------------------------------


@argues_for("fat", "thin", "blue", "red", "big")
def column_and_thread() -> list[Form]:
    """A column and a thread of the same height."""
    return [block(84, 120, 96, 196, BLUE), block(190, 120, 3, 196, RED)]


@argues_for("fat", "thin", "green", "heavy", "square")
def stripes() -> list[Form]:
    """Stripes that grow from thread to board."""
    widths = (1.5, 3, 5, 8, 12, 18, 26, 38)
    left, bars = 20.0, []
    for width in widths:
        bars.append(block(left + width / 2, 120, width, 240))
        left += width + 12
    return [group(GREEN, *bars)]


@argues_for("fat", "thin", "red", "round", "light")
def tapering_tail() -> list[Form]:
    """A curve that begins as a body and ends as a hair."""
    return [
        shape(
            "M20 62C20 0 116 4 116 84C116 150 128 174 148 174C174 174 174 130 168 96"
            "C163 62 178 32 228 18C186 40 170 66 174 96C180 140 182 202 146 210"
            "C102 220 64 172 70 106C74 76 68 64 60 74C48 90 20 88 20 62z",
            RED,
        ),
    ]


@argues_for("thin", "round", "blue", "light", "big")
def spiral() -> list[Form]:
    """A hair that winds outwards."""
    points = [around(120, 120, 3 + 0.077 * angle, angle) for angle in range(0, 1350, 15)]
    return [stroke(polyline(*points), 2.5, BLUE)]


@argues_for("fat", "square", "green", "heavy", "yellow", on=YELLOW)
def square_spiral() -> list[Form]:
    """A beam that winds inwards at right angles."""
    return [stroke("M10 30H210V210H40V74H166V166H84V118H140", 24, GREEN)]


@argues_for("fat", "round", "yellow", "small", "square", "blue", on=BLUE)
def doughnut() -> list[Form]:
    """A fat ring with a square hole."""
    return [disc(120, 120, 100, YELLOW), block(120, 120, 44, 44, BLUE, turn=8)]


@argues_for("thin", "fat", "heavy", "blue", "big", "round", "light")
def beast_on_stilts() -> list[Form]:
    """A heavy body on legs like threads."""
    legs = "M70 96L52 240M100 104L94 240M146 104L156 240M174 96L196 240"
    return [
        stroke(legs, 2, INK),
        shape(
            "M36 74C36 28 86 12 128 18C180 24 212 44 208 84C204 120 160 124 118 122"
            "C70 120 36 112 36 74z",
            BLUE,
        ),
        stroke("M206 70C228 76 226 104 214 122", 6, BLUE, cap="round"),
    ]


@argues_for("fat", "thin", "yellow", "square", "heavy", on=NIGHT)
def crossing() -> list[Form]:
    """A fat bar and a thin one cross."""
    return [block(120, 120, 300, 62, YELLOW, turn=-24), block(120, 120, 300, 4, WHITE, turn=66)]


@argues_for("thin", "fat", "green", "round", "small", "red", on=SAND)
def cactus() -> list[Form]:
    """Fat limbs with fine thorns."""
    limbs = [
        stroke("M120 240V70", 62, GREEN, cap="round"),
        stroke("M50 96V128C50 158 80 158 104 158", 32, GREEN, cap="round"),
        stroke("M192 120V146C192 178 160 182 138 182", 26, GREEN, cap="round"),
    ]
    thorns = [
        stroke(polyline((x, y), (x + 9 * way, y - 7)), 1.5, INK)
        for x, y, way in [
            *[(94, 74 + 34 * row, -1) for row in range(5) if row != 2],
            *[(146, 74 + 34 * row, 1) for row in range(5) if row != 3],
            *[(35, 96, -1), (37, 130, -1), (66, 112, 1), (204, 128, 1), (200, 158, 1)],
        ]
    ]
    return [*limbs, *thorns, disc(120, 34, 12, RED)]


@argues_for("thin", "light", "yellow", "red", "small", "heavy")
def sheaf() -> list[Form]:
    """Many blades that a small ring holds together."""
    blades = "".join(
        polyline((28 + 16 * n, 16), (112 + n, 130), (64 + 8 * n, 232)) for n in range(13)
    )
    return [stroke(blades, 2, YELLOW), block(119, 132, 34, 20, RED, corner=4)]


@argues_for("round", "fat", "red", "blue", "green", "yellow", on=MIST)
def sausages() -> list[Form]:
    """Fat strokes with round ends, side by side."""
    ways = ((36, 60, 170), (92, 96, 212), (148, 34, 130), (204, 110, 196))
    return [
        stroke(f"M{x} {top}V{bottom}", 40, color, cap="round")
        for (x, top, bottom), color in zip(ways, (RED, BLUE, YELLOW, GREEN), strict=True)
    ]


@argues_for("thin", "square", "fat", "red", "blue", "yellow", "big")
def panes() -> list[Form]:
    """Panes between fat and thin bars."""
    return [
        block(182, 173, 116, 134, RED),
        block(62, 204, 124, 72, BLUE),
        block(213, 53, 54, 106, YELLOW),
        stroke("M124 0V240M0 168H124", 15, INK),
        stroke("M0 106H240", 9, INK),
        stroke("M186 0V106M124 204H240", 3, INK),
    ]


@argues_for("round", "fat", "yellow", "thin", "light", on="#bfd3ea")
def egg_on_a_wire() -> list[Form]:
    """An egg that stands on a wire."""
    return [
        stroke("M0 176C60 198 180 198 240 176", 2, INK),
        shape(
            "M120 40C164 40 188 104 184 140C180 176 152 191 120 191"
            "C88 191 60 176 56 140C52 104 76 40 120 40z",
            YELLOW,
        ),
    ]


@argues_for("thin", "red", "fat", "round", "heavy", "light", "small")
def toadstools() -> list[Form]:
    """Caps, fat and small, on stems like matches."""
    return [
        stroke("M84 240C84 200 74 150 80 104M174 240V156M214 240C210 220 220 200 218 186", 3, INK),
        shape("M4 110C4 46 40 22 80 22C120 22 156 46 156 110z", RED),
        shape("M134 160C134 128 154 118 174 118C194 118 214 128 214 160z", RED),
        shape("M202 188C202 174 210 170 218 170C226 170 234 174 234 188z", RED),
        disc(48, 78, 12, PAPER),
        disc(98, 50, 9, PAPER),
        disc(114, 90, 14, PAPER),
    ]


# --- Heavy and light ----------------------------------------------------------------------------


@argues_for("heavy", "thin", "big", "green", "fat", "small", "yellow")
def boulder_on_a_needle() -> list[Form]:
    """A boulder that a needle bears."""
    return [
        shape("M117 240L121 140L125 240z", INK),
        shape("M26 96L52 30L128 14L206 44L218 104L170 146L78 142z", GREEN),
        shape("M26 96L84 108L170 146L78 142zM84 108L52 30L128 14z", "#157f5b"),
        block(121, 234, 60, 12, YELLOW),
    ]


@argues_for("big", "light", "red", "round", "small", "heavy", "thin", "square", on="#e3ecf6")
def balloon() -> list[Form]:
    """A balloon pulls a weight along by a string."""
    return [
        disc(92, 76, 66, RED),
        stroke("M112 139C130 176 152 160 186 206", 1.5, INK),
        block(192, 216, 22, 22, INK, turn=-14),
    ]


@argues_for("heavy", "light", "big", "small", "square", "round", "blue")
def seesaw() -> list[Form]:
    """A seesaw on which the small thing is the heavier one."""
    return [
        stroke("M16 128L224 190", 6, INK, cap="round"),
        shape("M118 160L150 228H86z", STONE),
        ring(66, 82, 58, 3, BLUE),
        block(205, 163, 38, 38, INK, turn=16.6),
    ]


@argues_for("heavy", "fat", "square", "red", "round", "small", "green")
def slabs() -> list[Form]:
    """Slabs pile up; a ball lies on top."""
    slabs = [block(116 + (-1) ** n * (6 + n), 216 - 40 * n, 204 - 38 * n, 36) for n in range(4)]
    return [group(GREEN, *slabs), disc(96, 63, 17, RED)]


@argues_for("thin", "light", "blue", "round", "yellow", "big", on=MIST)
def rain_before_the_sun() -> list[Form]:
    """Thin strokes fall across a disc."""
    drops = "".join(polyline((x, y), (x - 11, y + 30)) for x, y in spots(21, 46, 25, 4))
    return [disc(140, 110, 70, YELLOW), stroke(drops, 2, BLUE)]


@argues_for("light", "thin", "green", "heavy", "red", "square", "small")
def leaves_and_block() -> list[Form]:
    """Leaves sail down around a block."""
    leaves = []
    for x, y, turn in (
        (40, 46, 20),
        (108, 30, -35),
        (196, 52, 60),
        (64, 118, -20),
        (150, 104, 15),
        (34, 190, 50),
        (214, 128, -50),
    ):
        leaves.append(oval(x, y, 21, 5, GREEN, turn=turn))
    return [*leaves, block(136, 196, 104, 88, RED)]


@argues_for("light", "thin", "small", "red", "blue", "yellow", "green")
def mobile() -> list[Form]:
    """Small plates hang in balance from threads."""
    threads = (
        "M120 0V48M44 58L186 40M44 58V112M186 40V84M142 92L216 78M142 92V146M216 78V112"
        "M104 152L176 142M104 152V196M176 142V172"
    )
    return [
        stroke(threads, 1.5, INK),
        oval(44, 136, 34, 24, RED),
        block(216, 123, 22, 22, BLUE, turn=8),
        disc(104, 208, 14, YELLOW),
        shape("M176 170L194 206H160z", GREEN),
    ]


@argues_for("round", "heavy", "fat", "light", "red", "blue", "yellow")
def cairn() -> list[Form]:
    """Pebbles in a tower that leans."""
    pebbles = (
        (116, 206, 84, 30, INK),
        (128, 156, 60, 23, BLUE),
        (112, 114, 46, 20, STONE),
        (124, 80, 32, 15, RED),
        (112, 56, 21, 10, YELLOW),
        (118, 38, 10, 7, INK),
    )
    return [oval(x, y, across, up, color) for x, y, across, up, color in pebbles]


@argues_for("light", "thin", "square", "green", "big", "red", on="#dfe9f4")
def kite() -> list[Form]:
    """A kite with a long tail, on a line."""
    return [
        stroke("M150 84C120 150 60 150 40 240", 1.5, INK),
        stroke("M120 146C150 170 128 190 160 212C176 224 196 214 214 232", 3, RED),
        shape("M186 12L214 104L120 146L96 60z", GREEN),
        stroke("M186 12L120 146M96 60L214 104", 2, INK),
    ]


@argues_for("heavy", "big", "fat", "thin", "small", "light", "yellow")
def sunken_bowl() -> list[Form]:
    """A half disc that weighs on the ground, and a ring that pulls it up."""
    return [
        shape("M20 130A100 100 0 0 0 220 130z", INK),
        stroke("M120 130V52", 2, INK),
        ring(120, 36, 15, 4, YELLOW),
    ]


@argues_for("light", "heavy", "fat", "square", "round", "blue", on="#6f9ee0")
def cloud_on_pillars() -> list[Form]:
    """A cloud that needs columns."""
    cloud = ((58, 86, 34), (100, 62, 46), (154, 70, 40), (190, 92, 28))
    return [
        group(INK, *(block(x, 180, 30, 140) for x in (60, 120, 180))),
        block(120, 232, 240, 20, BLUE),
        group(WHITE, *(disc(*each) for each in cloud), block(124, 98, 172, 44, corner=22)),
    ]


@argues_for("heavy", "big", "thin", "green", "light", "fat")
def stone_cloud() -> list[Form]:
    """A dark cloud upon fine rays."""
    rays = "".join(polyline((12 + 27 * n, 96), (2 + 30 * n, 240)) for n in range(9))
    cloud = ((20, 70, 56), (84, 84, 52), (150, 78, 62), (222, 66, 60))
    return [
        stroke(rays, 2, GREEN),
        group(INK, block(120, 30, 240, 100), *(disc(*each) for each in cloud)),
    ]


@argues_for("heavy", "thin", "round", "green", "light", "fat", on=MIST)
def ball_in_a_hammock() -> list[Form]:
    """A ball weighs down a hammock of threads."""
    threads = "".join(f"M0 {y}C70 {y} 66 192 120 192S170 {y} 240 {y}" for y in range(8, 128, 17))
    return [disc(120, 140, 50, GREEN), stroke(threads, 1.5, INK)]


@argues_for("light", "round", "green", "thin", "heavy")
def pendulum() -> list[Form]:
    """A ball swings, and fades where it was."""
    faint = (0.2, 0.4, 0.6, 0.8, 1)
    places = [around(120, 12, 168, angle) for angle in (120, 105, 90, 75, 60)]
    swing = [
        disc(x, y, 21, GREEN, opacity=each) for (x, y), each in zip(places, faint, strict=True)
    ]
    return [stroke(polyline((120, 12), places[-1]), 2, INK), block(120, 8, 40, 10, INK), *swing]


@argues_for("big", "light", "small", "heavy", "square", "blue")
def fading_squares() -> list[Form]:
    """Squares that grow paler the larger they are."""
    return [
        block(138, 96, 176, 176, BLUE, opacity=0.1),
        block(108, 128, 120, 120, BLUE, opacity=0.3),
        block(76, 166, 74, 74, BLUE, opacity=0.5),
        block(40, 204, 40, 40, BLUE),
    ]


@argues_for("heavy", "light", "round", "square", "red", "green", "thin")
def scales() -> list[Form]:
    """A disc and a square hang in exact balance."""
    return [
        stroke(
            "M120 20V226M40 56H200M40 56L14 136M40 56L66 136M200 56L174 136M200 56L226 136", 2, INK
        ),
        block(120, 228, 80, 10, INK),
        disc(40, 140, 33, RED),
        block(200, 140, 58, 58, GREEN),
    ]


@argues_for("heavy", "square", "thin", "red", "light")
def dominoes() -> list[Form]:
    """A row of slabs as it falls."""
    slabs = []
    for place, angle in enumerate((64, 62, 58, 50, 38, 22, 0)):
        across, up = around(0, 0, 6, -angle), around(0, 0, 50, -90 - angle)
        x, y = 62 + 25 * place + across[0] + up[0], 208 + across[1] + up[1]
        slabs.append(block(x, y, 12, 100, RED if angle == 0 else INK, turn=-angle))
    return [*slabs, block(120, 224, 240, 32, STONE)]


@argues_for("big", "light", "round", "yellow", "green", "small", "heavy", "thin", on="#dcebf7")
def parachute() -> list[Form]:
    """A canopy carries a small box."""
    return [
        shape("M20 112C20 40 74 14 120 14C166 14 220 40 220 112z", YELLOW),
        shape(
            "M60 112C62 56 88 14 120 14C152 14 178 56 180 112C160 98 140 98 120 112"
            "C100 98 80 98 60 112z",
            GREEN,
        ),
        stroke("M20 112L120 208L60 112M180 112L120 208L220 112", 1.2, INK),
        block(120, 214, 26, 20, INK),
    ]


@argues_for("big", "heavy", "blue", "small", "light", "fat", on="#cfe4f7")
def iceberg() -> list[Form]:
    """A tip above the line, a mountain below."""
    return [
        block(120, 156, 240, 168, "#3f74d1"),
        shape("M98 72L124 30L140 48L156 72z", WHITE),
        shape("M98 72H156L204 118L178 196L128 226L66 190L42 124z", BLUE),
        shape("M98 72H128L112 150L128 226L66 190L42 124z", "#0f2f77"),
    ]


# --- Round and square ---------------------------------------------------------------------------


@argues_for("round", "square", "blue", "green", "big", "fat")
def neither() -> list[Form]:
    """A form halfway between square and disc, of a colour between two."""
    return [
        shape(
            "M120 16C206 16 224 34 224 120C224 206 206 224 120 224"
            "C34 224 16 206 16 120C16 34 34 16 120 16z",
            "#12818f",
        ),
    ]


@argues_for("square", "round", "thin", "light", "green")
def rosette() -> list[Form]:
    """Turned squares whose corners draw a circle."""
    return [frame(120, 120, 150, 1.5, GREEN, turn=7.5 * n) for n in range(12)]


@argues_for("round", "thin", "big", "square", "small", "blue")
def wheel() -> list[Form]:
    """A wheel of thin spokes with a square hub."""
    spokes = "".join(polyline((120, 120), around(120, 120, 96, 15 + 30 * n)) for n in range(12))
    return [ring(120, 120, 98, 6, BLUE), stroke(spokes, 1.5, BLUE), block(120, 120, 36, 36, INK)]


@argues_for("square", "fat", "round", "red", "heavy", "yellow", on=YELLOW)
def square_wheel() -> list[Form]:
    """A square tyre with a round hub."""
    return [
        block(120, 230, 240, 20, SAND),
        frame(120, 124, 140, 44, INK, turn=9),
        disc(120, 124, 36, RED),
    ]


@argues_for("round", "red", "blue", "big", on=RED)
def counterchanged_disc() -> list[Form]:
    """A disc across two fields, each half in the colour of the other."""
    return [
        shape("M240 0V240H0z", BLUE),
        shape("M174.4 65.6A77 77 0 0 1 65.6 174.4z", RED),
        shape("M65.6 174.4A77 77 0 0 1 174.4 65.6z", BLUE),
    ]


@argues_for("square", "green", "yellow", "round", "light", on=YELLOW)
def bitten_square() -> list[Form]:
    """A square and the discs that are cut out of it."""
    return [
        block(120, 120, 160, 160, GREEN),
        disc(200, 84, 46, YELLOW),
        disc(40, 168, 32, YELLOW),
        disc(96, 40, 22, YELLOW),
        disc(96, 132, 17, YELLOW),
    ]


@argues_for("yellow", "blue", "round", "green", "light", "big", on=MIST)
def lenses() -> list[Form]:
    """Two veils that make a third colour."""
    return [
        disc(88, 120, 74, "#f9d96c"),
        disc(152, 120, 74, "#8fb2ef"),
        shape("M120 53.3A74 74 0 0 1 120 186.7A74 74 0 0 1 120 53.3z", GREEN),
    ]


@argues_for("red", "yellow", "square", "heavy", "big", "fat")
def leaning_squares() -> list[Form]:
    """Two squares lean on each other and mix."""
    return [
        block(90, 104, 132, 132, YELLOW, turn=-12),
        block(152, 138, 132, 132, RED, turn=14, opacity=0.8),
    ]


@argues_for("red", "thin", "blue", "round", "big", "fat")
def wedge() -> list[Form]:
    """A wedge drives into a disc."""
    return [disc(152, 132, 78, BLUE), shape("M0 14L0 128L158 134z", RED)]


@argues_for("round", "thin", "red", "light", "big")
def sliced_disc() -> list[Form]:
    """A disc in slices that have slipped."""
    slips = (-12, 12, -10, 14, -14, 8)
    edges = (20, 50, 84, 120, 156, 190, 220)
    slices = []
    for (top, bottom), slip in zip(pairwise(edges), slips, strict=True):
        upper, lower = ((100**2 - (120 - y) ** 2) ** 0.5 for y in (top, bottom))
        x = 120 + slip
        right, left = number(x + lower), number(x - lower)
        slices.append(
            f"{polyline((x - upper, top), (x + upper, top))}A100 100 0 0 1 {right} {bottom}"
            f"H{left}A100 100 0 0 1 {number(x - upper)} {top}z"
        )
    return [
        shape("".join(slices), RED),
        stroke("M0 50H240M0 84H240M0 120H240M0 156H240M0 190H240", 3, PAPER),
    ]


@argues_for("square", "thin", "yellow", "light", on=INK)
def sliced_square() -> list[Form]:
    """A square in ribbons that drift apart."""
    ribbons = [
        block(36 + 24 * n, 120 + (-1) ** n * (3 + 4.5 * n), 21 - 2.3 * n, 150) for n in range(8)
    ]
    return [group(YELLOW, *ribbons)]


@argues_for("square", "big", "green", "round", "small", "heavy", on=GREEN)
def keyhole() -> list[Form]:
    """A door with a hole."""
    return [
        block(120, 132, 168, 216, "#0c5a3b"),
        stroke("M54 42H186V222H54z", 3, GREEN),
        disc(166, 128, 13, INK),
        shape("M166 124L175 160H157z", INK),
    ]


@argues_for("round", "light", "thin", "square", "blue", "small", on="#123a80")
def bubbles() -> list[Form]:
    """Bubbles rise; one of them is square."""
    sizes = (
        (60, 190, 34),
        (150, 176, 46),
        (44, 112, 20),
        (206, 90, 22),
        (128, 40, 15),
        (70, 50, 26),
        (190, 32, 10),
        (28, 30, 8),
        (168, 84, 9),
        (92, 132, 10),
        (214, 214, 12),
    )
    return [
        *(ring(x, y, radius, 2.5, "#a9cdfa") for x, y, radius in sizes),
        frame(124, 96, 38, 2.5, WHITE, turn=14),
    ]


@argues_for("heavy", "red", "square", "light", "yellow", "small", on="#f0d9c8")
def missing_brick() -> list[Form]:
    """A wall with a lit gap."""
    bricks = [
        block(x, 16 + 30 * row, 56, 25)
        for row in range(8)
        for x in (range(0, 300, 60) if row % 2 else range(30, 240, 60))
        if (row, x) != (3, 120)
    ]
    return [group(RED, *bricks), block(120, 106, 56, 25, YELLOW)]


@argues_for("big", "round", "small", "square", "red", "heavy")
def long_shadow() -> list[Form]:
    """A small square throws a large round shadow."""
    return [
        oval(140, 142, 96, 74, "#b9ab91", turn=-24),
        block(52, 188, 36, 36, RED),
    ]


@argues_for("square", "round", "red", "blue", "yellow", "green", "big")
def quarters() -> list[Form]:
    """Four quarters of discs on four squares."""
    return [
        block(60, 60, 120, 120, RED),
        block(180, 60, 120, 120, YELLOW),
        block(60, 180, 120, 120, GREEN),
        block(180, 180, 120, 120, BLUE),
        shape("M0 120A120 120 0 0 1 120 0V120z", YELLOW),
        shape("M120 120A120 120 0 0 0 240 0H120z", BLUE),
        shape("M120 120A120 120 0 0 1 0 240V120z", RED),
        shape("M120 240A120 120 0 0 1 240 120V240z", GREEN),
    ]


@argues_for("round", "big", "small", "thin", "fat", "red", on=MIST)
def target() -> list[Form]:
    """Rings that grow fatter inwards."""
    rings = ((108, 2), (94, 5), (76, 10), (51, 17))
    return [
        *(ring(112, 124, radius, width, RED) for radius, width in rings),
        disc(112, 124, 22, INK),
    ]


# --- Big and small ------------------------------------------------------------------------------


@argues_for("big", "fat", "red", "small", "blue", "heavy", on=NIGHT)
def two_planets() -> list[Form]:
    """The edge of a giant, and a dwarf."""
    return [disc(10, 250, 176, RED), disc(196, 52, 9, "#4f86f0"), ring(196, 52, 20, 1, STONE)]


@argues_for("thin", "yellow", "light", "round", "blue", "big", "small", on="#152a5c")
def crescent() -> list[Form]:
    """A thin moon over a wide night."""
    return [
        shape("M150 34A66 66 0 1 1 92 148A74 74 0 0 0 150 34z", YELLOW),
        group(WHITE, *(disc(x, y, 1.8) for x, y in spots(5, 16, 34, 14) if x < 86 or y > 180)),
    ]


@argues_for("square", "thin", "fat", "heavy", "small", "yellow", on="#c9ced8")
def skyline() -> list[Form]:
    """Towers, thick and slender, and one lit window."""
    towers = (
        (22, 130, 44),
        (58, 40, 16),
        (96, 96, 46),
        (132, 160, 18),
        (160, 66, 30),
        (207, 148, 54),
    )
    return [
        group(INK, *(block(x, (top + 240) / 2, width, 240 - top) for x, top, width in towers)),
        block(160, 100, 10, 12, YELLOW),
    ]


@argues_for("round", "green", "fat", "thin", "small", "light", on="#e6f0e4")
def hills() -> list[Form]:
    """Round hills, and a tree like a pin."""
    return [
        disc(190, 250, 110, "#8cc9a8"),
        disc(40, 270, 130, GREEN),
        disc(150, 300, 110, "#0d5f3f"),
        block(64, 116, 2.5, 60, INK),
        disc(64, 84, 11, INK),
    ]


@argues_for("blue", "big", "heavy", "small", "red", "light", on="#d5e6fa")
def boat() -> list[Form]:
    """A small sail on heavy water."""
    return [
        shape("M110 96L144 96L110 44z", RED),
        shape("M90 100H150L140 114H102z", INK),
        shape("M0 120C30 96 60 96 90 114S160 132 190 114S230 100 240 108V240H0z", BLUE),
        shape("M0 168C40 146 70 150 104 166S176 184 240 154V240H0z", "#0f2f77"),
        shape("M0 212C60 192 110 200 140 210S210 218 240 204V240H0z", "#0a2153"),
    ]


@argues_for("green", "big", "square", "thin", "light", "small")
def leafy_tree() -> list[Form]:
    """A crown of small squares on a thin trunk."""
    crown = [
        block(x, y, 18, 18, turn=(x + 2 * y) % 40 - 20)
        for x in range(38, 212, 24)
        for y in range(24, 176, 24)
        if (x - 122) ** 2 / 98**2 + (y - 96) ** 2 / 78**2 < 1
    ]
    return [block(120, 200, 4, 90, INK), group(GREEN, *crown)]


@argues_for("fat", "thin", "yellow", "light", "heavy", on=NIGHT)
def hourglass() -> list[Form]:
    """Two bodies joined by a neck."""
    return [
        shape(
            "M56 30H184C184 84 126 104 122 120C126 136 184 156 184 210H56"
            "C56 156 114 136 118 120C114 104 56 84 56 30z",
            WHITE,
        ),
        shape("M66 72H174C160 96 124 108 120 122C116 108 80 96 66 72z", YELLOW),
        shape("M56 210C60 186 96 172 120 168C144 172 180 186 184 210z", YELLOW),
        block(120, 24, 150, 12, STONE),
        block(120, 216, 150, 12, STONE),
    ]


@argues_for("fat", "round", "blue", "heavy", "thin")
def drop() -> list[Form]:
    """A drop about to fall from a thread."""
    return [
        stroke("M120 0V60", 2, INK),
        shape("M120 44C128 92 184 118 184 166A64 64 0 0 1 56 166C56 118 112 92 120 44z", BLUE),
        stroke("M84 168A36 36 0 0 0 108 201", 7, "#9fc0f5", cap="round"),
    ]


@argues_for("light", "round", "small", "thin", "yellow", "green", on="#e9f3ec")
def dandelion() -> list[Form]:
    """A head of threads, with seeds that fly off."""
    rays = [around(104, 104, 74, 20 * n) for n in range(18)]
    return [
        stroke("M104 104C108 160 118 200 112 240", 4, GREEN),
        stroke("".join(polyline((104, 104), ray) for ray in rays), 1, STONE),
        group(YELLOW, *(disc(x, y, 5.5) for x, y in rays), disc(104, 104, 13)),
        group(YELLOW, disc(204, 62, 5), disc(222, 108, 4), disc(196, 22, 4)),
    ]


@argues_for("thin", "light", "square", "green", "big", "small", "heavy")
def ladder() -> list[Form]:
    """A long ladder leans on nothing."""
    rungs = "".join(
        polyline((68 + 8.6 * n, 206 - 21 * n), (108 + 8.2 * n, 214 - 21 * n)) for n in range(10)
    )
    return [
        stroke("M60 240L154 8M100 240L192 16", 3, GREEN),
        stroke(rungs, 2.5, GREEN),
        block(214, 228, 20, 20, INK),
    ]


@argues_for("big", "light", "square", "thin", "red", "small", "heavy")
def hatched_square() -> list[Form]:
    """A large square of nothing but fine lines, and a small solid one."""
    low, high = 18, 178
    lines = "".join(
        polyline(
            (max(low, low + n - 160), min(high, low + n)),
            (min(high, low + n), max(low, low + n - 160)),
        )
        for n in range(8, 320, 8)
    )
    return [stroke(lines, 1.3, RED), block(208, 208, 34, 34, RED)]


@argues_for("yellow", "round", "big", "thin", "heavy", on=INK)
def eclipse() -> list[Form]:
    """A dark disc lets a thin edge of light pass."""
    return [
        disc(120, 120, 92, "#5a4718"),
        disc(120, 120, 84, YELLOW),
        disc(113, 122, 80, "#0f0f14"),
    ]


@argues_for("small", "red", "square", "heavy", "thin", "light", on="#eef0f3")
def pinned_square() -> list[Form]:
    """A small square at the end of a long, thin, bending rod."""
    return [
        stroke("M22 240C22 120 70 54 182 60", 2, INK),
        stroke("M182 60V80", 1.2, INK),
        block(182, 92, 24, 24, RED),
    ]


@argues_for("heavy", "light", "fat", "round", "green", "thin", on=SAND)
def bridge() -> list[Form]:
    """A beam that thin arches bear."""
    arches = "".join(f"M{x} 240A38 116 0 0 1 {x + 76} 240" for x in (6, 82, 158))
    return [block(120, 92, 240, 62, GREEN), stroke(arches, 2.5, INK), disc(196, 49, 12, INK)]
