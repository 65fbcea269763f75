// The clocks of a table: what is left of the time for a turn, as a number in a ring.

import { h } from './dom.js';
import { duration, t } from './texts.js';

/** @typedef {import('./client.js').Client} Client */
/** @typedef {import('./client.js').Game} Game */

const SHORT_MS = 15_000;

/** Draws the clock of a game that has a deadline; `tick` sets it. @param {Pick<Game, 'deadline' | 'turn_seconds'>} game */
export function drawClock({ deadline, turn_seconds }) {
  return deadline && h('span', { class: 'clock', role: 'timer', 'data-deadline': deadline, 'data-whole': turn_seconds * 1000 });
}

/** Sets all clocks to what is left by the service's time. @param {HTMLElement} root @param {Client} client */
export function tick(root, client) {
  for (const clock of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('.clock'))) {
    const left = client.until(clock.dataset.deadline ?? '');
    clock.textContent = duration(left);
    clock.title = t('time_left', { time: duration(left) });
    clock.style.setProperty('--left', String(Math.min(100, Math.max(0, (100 * left) / Number(clock.dataset.whole)))));
    clock.classList.toggle('short', left < SHORT_MS);
  }
}
