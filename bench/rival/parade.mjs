// Parade in boardgame.io's terms: the rules and checks of engine/parade.py, and no more.

import { createRequire } from "node:module";

const { Stage, INVALID_MOVE } = createRequire(import.meta.url)("boardgame.io/core");

const COLORS = ["red", "blue", "purple", "green", "grey", "orange"];
const CARDS = COLORS.flatMap((color) => [...Array(11).keys()].map((value) => `${color}-${value}`));
const HAND_SIZE = 5;
const PARADE_SIZE = 6;

const colorOf = (card) => card.slice(0, card.lastIndexOf("-"));
const valueOf = (card) => Number(card.slice(card.lastIndexOf("-") + 1));

function setup({ ctx, random }) {
  const cards = random.Shuffle(CARDS);
  const seats = ctx.numPlayers;
  return {
    firstSeat: random.Die(seats) - 1,
    hands: [...Array(seats).keys()].map((seat) =>
      cards.slice(seat * HAND_SIZE, (seat + 1) * HAND_SIZE),
    ),
    parade: cards.slice(seats * HAND_SIZE, seats * HAND_SIZE + PARADE_SIZE),
    pile: cards.slice(seats * HAND_SIZE + PARADE_SIZE),
    collections: Array(seats).fill([]),
    discards: Array(seats).fill(null),
    lastTurnsLeft: null,
  };
}

// Only the server knows the hands and the pile, so it alone can play a move.
function play({ G, playerID }, card) {
  const seat = Number(playerID);
  const hand = G.hands[seat];
  if (!hand.includes(card)) {
    return INVALID_MOVE;
  }
  const color = colorOf(card);
  const value = valueOf(card);
  const inRemovalMode = Math.max(G.parade.length - value, 0);
  const leaves = (other, at) =>
    at < inRemovalMode && (colorOf(other) === color || valueOf(other) <= value);
  const leaving = G.parade.filter(leaves);
  G.hands[seat] = hand.filter((each) => each !== card);
  G.collections[seat] = [...G.collections[seat], ...leaving];
  G.parade = [...G.parade.filter((other, at) => !leaves(other, at)), card];
  if (G.lastTurnsLeft !== null) {
    G.lastTurnsLeft -= 1;
    return;
  }
  G.hands[seat].push(G.pile.shift());
  const colors = new Set(G.collections[seat].map(colorOf));
  if (colors.size === COLORS.length || G.pile.length === 0) {
    G.lastTurnsLeft = G.hands.length;
  }
}

function discard({ G, playerID }, cards) {
  const seat = Number(playerID);
  const hand = G.hands[seat];
  const isRight =
    Array.isArray(cards) && new Set(cards).size === 2 && cards.every((each) => hand.includes(each));
  if (!isRight || cards.length !== 2) {
    return INVALID_MOVE;
  }
  G.discards[seat] = cards;
  G.hands[seat] = hand.filter((each) => !cards.includes(each));
  if (G.discards.every((each) => each !== null)) {
    G.collections = G.collections.map((cards, seat) => [...cards, ...G.hands[seat]]);
    G.hands = G.hands.map(() => []);
  }
}

function scores(collections) {
  const totals = collections.map(() => 0);
  for (const color of COLORS) {
    const values = collections.map((cards) =>
      cards.filter((card) => colorOf(card) === color).map(valueOf),
    );
    const counts = values.map((each) => each.length);
    const most = Math.max(...counts);
    const hasMajority = (seat) =>
      counts.length === 2 ? counts[seat] - counts[1 - seat] >= 2 : counts[seat] === most;
    values.forEach((each, seat) => {
      totals[seat] += hasMajority(seat) ? each.length : each.reduce((sum, value) => sum + value, 0);
    });
  }
  return totals;
}

// The open cards, the sizes of what is hidden, and the reader's own cards.
function playerView({ G, playerID }) {
  const { hands, pile, discards, ...open } = G;
  const seat = playerID === null ? null : Number(playerID);
  return {
    ...open,
    pileSize: pile.length,
    handSizes: hands.map((hand) => hand.length),
    hasDiscarded: discards.map((each) => each !== null),
    hand: seat === null ? null : hands[seat],
    discard: seat === null ? null : discards[seat],
  };
}

export const parade = {
  name: "parade",
  minPlayers: 2,
  maxPlayers: 6,
  disableUndo: true,
  setup,
  playerView,
  phases: {
    play: {
      start: true,
      moves: { play: { move: play, client: false } },
      turn: {
        minMoves: 1,
        maxMoves: 1,
        order: {
          first: ({ G }) => G.firstSeat,
          next: ({ ctx }) => (ctx.playOrderPos + 1) % ctx.numPlayers,
        },
      },
      endIf: ({ G }) => G.lastTurnsLeft === 0,
      next: "discard",
    },
    discard: {
      moves: {
        discard: { move: discard, client: false, redact: true, ignoreStaleStateID: true },
      },
      turn: { activePlayers: { all: Stage.NULL, minMoves: 1, maxMoves: 1 } },
    },
  },
  endIf: ({ G }) =>
    G.discards.every((each) => each !== null) ? { scores: scores(G.collections) } : undefined,
};
