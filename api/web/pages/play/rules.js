// Draws the rules of a game, which the service writes in Markdown: headings, lists, tables, words.

import { h } from './dom.js';

/** @param {string} text */
const words = (text) => text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) =>
  part.startsWith('`') ? h('code', {}, part.slice(1, -1)) : part.startsWith('**') ? h('strong', {}, part.slice(2, -2)) : part);

/** @param {string} line */
const cells = (line) => line.split('|').slice(1, -1).map((cell) => cell.trim());

/** @param {string} markdown @returns {Node[]} */
export function drawRules(markdown) {
  return markdown.split(/\n\n+|\n(?=- |\d+\. )|(?<=^#.*)\n/m).flatMap((block, at) => {
    const text = block.trim();
    if (text.startsWith('# ') || !text) return [];
    if (text.startsWith('#')) return [h('h2', {}, ...words(text.replace(/^#+ /, '')))];
    if (text.startsWith('- ')) return [h('p', { class: 'point' }, ...words(text.slice(2)))];
    if (/^\d+\. /.test(text)) return [h('p', { class: 'step' }, ...words(text))];
    if (!text.startsWith('|')) return [h('p', {}, ...words(text))];
    const [top, , ...rows] = text.split('\n').map(cells);
    return [h('div', { class: 'scroll', tabindex: 0, 'data-key': `rules-${at}`, 'data-scroll': `rules-${at}` }, h('table', {},
      h('thead', {}, h('tr', {}, ...top.map((cell) => h('th', { scope: 'col' }, ...words(cell))))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, ...words(cell))))))))];
  });
}
