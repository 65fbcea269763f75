// The controls of a replay: a slider, buttons, the speed, and what the last move was. They are not
// drawn anew at each move, so that the slider can be dragged.

import { h, picture } from './dom.js';
import { t } from './texts.js';

const SPEEDS = [1, 2, 4];
const SIGNS = {
  first: 'M5 4h3v16H5ZM20 4v16L9 12Z',
  back: 'M15 4l3 3-5 5 5 5-3 3-8-8Z',
  play: 'M7 4v16l12-8Z',
  pause: 'M6 4h4v16H6ZM14 4h4v16h-4Z',
  next: 'M9 4 6 7l5 5-5 5 3 3 8-8Z',
  last: 'M16 4h3v16h-3ZM4 4v16l11-8Z',
};

/** @param {keyof typeof SIGNS} name */
const sign = (name) => picture('0 0 24 24', `<path d="${SIGNS[name]}"/>`);

export class ReplayBar {
  /** @param {import('./replay.js').ReplayPage} page */
  constructor(page) {
    this.page = page;
    const button = (/** @type {keyof typeof SIGNS} */ id, /** @type {() => void} */ click) =>
      h('button', { type: 'button', id, title: t(`replay.${id}`), 'aria-label': t(`replay.${id}`), click }, sign(id));
    this.slider = h('input', { type: 'range', id: 'position', 'aria-label': t('replay.position'), min: 0, max: page.last, step: 1, input: () => page.go(Number(this.slider.value)) });
    this.says = h('p', { id: 'says', class: 'says' });
    this.play = button('play', () => page.toggle());
    const choose = (/** @type {Event} */ event) => (page.speed = Number(/** @type {HTMLSelectElement} */ (event.target).value));
    this.count = h('span', { class: 'soft', id: 'count' });
    this.element = h('section', { class: 'replay-bar', 'aria-label': t('replay.controls') },
      this.says, h('div', { class: 'track' }, this.slider, this.count),
      h('div', { class: 'actions' },
        button('first', () => page.go(0)), button('back', () => page.go(page.at - 1)), this.play,
        button('next', () => page.go(page.at + 1)), button('last', () => page.go(page.last)),
        h('select', { id: 'speed', 'aria-label': t('replay.speed'), change: choose }, ...SPEEDS.map((speed) => h('option', { value: speed }, `× ${speed}`)))));
  }

  draw() {
    const { at, last, isPlaying } = this.page;
    const sentence = this.page.sentence();
    this.slider.value = String(at);
    this.slider.setAttribute('aria-valuetext', `${at} / ${last}. ${sentence}`);
    this.says.textContent = sentence;
    this.count.textContent = t('replay.count', { at, last });
    const does = isPlaying ? 'pause' : 'play';
    const label = t(`replay.${does}`);
    this.play.replaceChildren(sign(does));
    this.play.title = label;
    this.play.setAttribute('aria-label', label);
  }
}
