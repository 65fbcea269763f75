// Builds elements, and redraws a part of the page: focus and scrolling stay, moved cards slide.

/** @typedef {Node | string | number | null | undefined | false} Leaf */
/** @typedef {Leaf | Leaf[] | (Leaf | Leaf[])[]} Child */

/**
 * Creates an element. A property that is a function listens to its event, `style` sets custom
 * properties (the content security policy forbids style attributes), all others are attributes.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-')) element.setAttribute(name, String(value));
    else if (value === false || value === null || value === undefined) continue;
    else if (typeof value === 'function') element.addEventListener(name, value);
    else if (name !== 'style') element.setAttribute(name, value === true ? '' : String(value));
    else for (const [key, each] of Object.entries(value)) element.style.setProperty(key, String(each));
  }
  element.append(...leaves(children));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function leaves(children) {
  const flat = /** @type {Leaf[]} */ (children.flat(3));
  return flat.flatMap((each) =>
    each === null || each === undefined || each === false
      ? []
      : [each instanceof Node ? each : String(each)],
  );
}

/** Creates a picture from constant markup. @param {string} viewBox @param {string} markup */
export function picture(viewBox, markup) {
  const template = document.createElement('template');
  template.innerHTML = `<svg viewBox="${viewBox}" aria-hidden="true">${markup}</svg>`;
  return /** @type {SVGElement} */ (template.content.firstChild);
}

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Tells whether things may move: the visitor wants it, and sees it. */
export const mayMove = () => !calm.matches && !document.hidden;

/** @param {ParentNode} root @param {string} name @returns {HTMLElement[]} */
const withData = (root, name) => [...root.querySelectorAll(`[data-${name}]`)].map((each) => /** @type {HTMLElement} */ (each));

/**
 * Replaces what is in an element. A card, marked by data-flip, slides from where it was; one that
 * was not there comes from a place, and one that is gone flies there. Places are marked by
 * data-place.
 *
 * @param {HTMLElement} root
 * @param {Child[]} children
 * @param {string} [place]
 */
export function redraw(root, children, place) {
  const before = new Map(withData(root, 'flip').map((card) => [card.dataset.flip, { card, box: card.getBoundingClientRect() }]));
  const scrolled = withData(root, 'scroll').map(({ dataset, scrollLeft, scrollTop }) => ({ name: dataset.scroll, left: scrollLeft, top: scrollTop }));
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const focused = active && root.contains(active) ? active : null;
  root.replaceChildren(...leaves(children));
  for (const { name, left, top } of scrolled) root.querySelector(`[data-scroll="${name}"]`)?.scrollTo({ left, top });
  if (focused) refocus(root, focused.dataset.key);
  if (!mayMove()) return;
  const target = place && root.querySelector(`[data-place="${place}"]`)?.getBoundingClientRect();
  for (const card of withData(root, 'flip')) {
    const from = before.get(card.dataset.flip)?.box ?? target;
    before.delete(card.dataset.flip);
    if (from) slide(card, from, card.getBoundingClientRect(), true);
  }
  if (target) for (const { card, box } of before.values()) flyAway(card, box, target);
}

/** @param {HTMLElement} root @param {string | undefined} key */
function refocus(root, key) {
  const same = key && root.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const next = same || root.querySelector('[data-home]');
  /** @type {HTMLElement | null} */ (next)?.focus({ preventScroll: true });
}

/** @param {HTMLElement} card @param {DOMRect} from @param {DOMRect} to @param {boolean} arrives */
function slide(card, from, to, arrives) {
  const [x, y] = [from.left - to.left, from.top - to.top];
  if (Math.abs(x) + Math.abs(y) < 2) return undefined;
  const scale = Math.min(1, from.width / to.width || 1);
  const there = { transform: `translate(${x}px, ${y}px) scale(${scale})`, transformOrigin: '0 0' };
  const here = { transform: 'none', transformOrigin: '0 0' };
  const frames = arrives ? [there, here] : [here, there];
  return card.animate(frames, { duration: 420, easing: 'cubic-bezier(.2, .7, .3, 1)' });
}

/** @param {HTMLElement} card @param {DOMRect} from @param {DOMRect} to */
function flyAway(card, from, to) {
  const ghost = h('div', { class: 'flying', 'aria-hidden': true, inert: true }, card);
  for (const side of /** @type {const} */ (['left', 'top', 'width', 'height'])) ghost.style[side] = `${from[side]}px`;
  delete card.dataset.flip;
  delete card.dataset.key;
  card.removeAttribute('id');
  card.style.setProperty('--w', `${from.width}px`);
  document.body.append(ghost);
  const [x, y] = [to.left + to.width / 2 - from.left - from.width / 2, to.top + to.height / 2 - from.top - from.height / 2];
  const frames = [{ transform: 'none', opacity: 1 }, { transform: `translate(${x}px, ${y}px) scale(.25)`, opacity: 0.3 }];
  ghost.animate(frames, { duration: 520, easing: 'ease-in' }).finished.finally(() => ghost.remove());
}

/** @type {string[]} What is said at the same time. */
let spoken = [];

/** Says something to screen readers. Of texts that follow at once only the last would be read: they are joined. @param {string} text */
export function announce(text) {
  if (!text) return;
  if (!spoken.length) setTimeout(speak);
  spoken.push(text);
}

function speak() {
  const live = document.getElementById('live');
  if (live) live.textContent = spoken.join(' ');
  spoken = [];
}
