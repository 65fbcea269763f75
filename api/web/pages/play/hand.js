// What I hold and do: the parts of a move as buttons, my hand, the sentence and the button below it.

import { front } from './cards.js';
import { h } from './dom.js';
import { t } from './texts.js';

/** @typedef {import('./client.js').Move} Move */
/** @typedef {import('./table.js').TablePage} TablePage */

/**
 * Draws a part of a move as a button, with what the move would do while it is hovered or focused.
 *
 * @param {TablePage} page @param {string} part @param {string} card @param {string} label
 */
export function drawPart({ turn }, part, card, label) {
  const { choice } = turn;
  const isOffered = turn.offers(part);
  const isChosen = choice.chosen.includes(part);
  const preview = () => turn.offers(part) && turn.explain(choice.move(isChosen ? undefined : choice.with(part)));
  const back = () => turn.mayChoose && turn.explain(choice.move());
  return h('button', {
    class: `card${isOffered ? ' offered' : ''}${isChosen ? ' chosen' : ''}`, type: 'button', 'aria-label': label, title: label,
    'aria-pressed': isChosen, 'aria-disabled': !isOffered, 'data-part': part, 'data-key': part, 'data-flip': part, 'data-offer': isOffered,
    click: () => turn.press(part), mouseenter: preview, focus: preview, mouseleave: back, blur: back,
  }, front(card, label));
}

/** Draws a button that plays a move without parts. @param {TablePage} page @param {Move} move */
export function drawAction({ ruleset, turn }, move) {
  const verb = ruleset.move_types.find(({ type }) => type === move.type)?.title;
  return h('button', { type: 'button', id: move.type, 'data-key': move.type, disabled: !turn.mayChoose, click: () => turn.play(move) }, verb);
}

/** @param {TablePage} page */
export function drawHand(page) {
  const cards = [page.module.hand(page.view())].flat(1);
  const hasButton = page.game.you !== null || page.pace.isBusy;
  return h('section', { class: 'own', 'aria-label': t('hand') },
    cards.length > 0 && h('div', { class: 'hand' }, ...cards),
    h('div', { class: 'bar' }, h('p', { id: 'says', class: 'says' }), hasButton && (page.pace.isBusy ? drawSkip(page) : drawConfirm(page))));
}

/** @param {TablePage} page */
function drawSkip({ pace }) {
  return h('button', { type: 'button', id: 'skip', 'data-key': 'confirm', click: () => pace.hurry() }, t('skip'));
}

/** @param {TablePage} page */
function drawConfirm({ ruleset, turn }) {
  const move = turn.choice.move();
  const verb = ruleset.move_types.find(({ type }) => type === move?.type)?.title;
  return h('button', { type: 'button', class: 'main', id: 'confirm', 'data-key': 'confirm', disabled: !move || !turn.mayChoose, click: () => turn.play() },
    turn.isSending ? t('sending') : verb ?? t('choose'));
}
