// Two charts from the tables of docs/benchmarks.md: the time of Rockpool divided by that of the fastest peer.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../children.mjs';

/** @typedef {{ label: string, ratio: number }} Bar */

/** Labels short enough to fit beside a bar, keyed by the ids in the tables. */
const STORAGE = {
  L1: 'cold open',
  L2: 'insert, autocommit',
  L3: 'insert 100,000 rows',
  L4c: 'SUM, cold',
  L4w: 'SUM, warm',
  L5: 'point read',
  L6: '50,000 rows to the page',
  L7: '10,000 updates',
  L8w: 'write beside a reading tab',
  L8r: 'read beside a writing tab',
  L9: 'LIKE scan',
  L9fts: 'full-text match',
  L10: 'GROUP BY, 300,000 rows',
  L11: 'filter JSON documents',
  'LI-L2': 'IndexedDB: insert',
  'LI-L3': 'IndexedDB: 100,000 rows',
  'LI-L4w': 'IndexedDB: SUM, warm',
};
const FLUSHED = { 'L2 strict': 'insert, flushed to disk' };
const CLIENT = {
  'C-L1': 'app: cold open',
  'C-L2m': 'app: insert, autocommit',
  'C-L3m': 'app: 100,000 rows',
  'C-L5m': 'app: point read',
  'C-L6': 'app: 50,000 rows to page',
  'C-L7m': 'app: 10,000 updates',
  'C-L8w': 'app: write beside a reader',
  'C-L8r': 'app: read beside a writer',
};
const SYNC = {
  S2p50: 'sync: a write to B, median',
  S2bytes: 'sync: bytes of a write',
  S3: 'sync: 10,000 offline writes',
  S3bytes: 'sync: bytes of 10,000',
  S1: 'sync: first 100,000 rows',
  'S4-100p50': 'sync: to 100 clients',
  'S4-500p50': 'sync: to 500 clients',
  S8p50: 'sync: a write, 10,000 rows',
};

const cells = (/** @type {string} */ line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** @param {string} document @param {string} group */
function section(document, group) {
  const text = document.split(`<!-- begin ${group} -->`)[1]?.split(`<!-- end ${group} -->`)[0];
  if (text === undefined) throw new Error(`docs/benchmarks.md has no tables for ${group}`);
  return text;
}

/**
 * The ratios in the verdict table, which compares each figure only with a comparable peer.
 *
 * @param {string} text
 * @param {Readonly<Record<string, string>>} labels
 * @returns {Bar[]}
 */
function judged(text, labels) {
  const lines = text.split('\n').map(cells);
  return Object.entries(labels).map(([id, label]) => {
    const ratio = Number(lines.find(([name]) => name === id)?.[4]);
    if (Number.isNaN(ratio)) throw new Error(`docs/benchmarks.md has no ratio for ${id}`);
    return { label, ratio };
  });
}

/**
 * Ours divided by the best peer's, from the tables of medians. All of these figures are better when lower.
 *
 * @param {string} text
 * @param {Readonly<Record<string, string>>} labels
 * @returns {Bar[]}
 */
function compared(text, labels) {
  const tables = text
    .slice(text.indexOf('Medians:'))
    .split('\n\n')
    .map((block) =>
      block
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map(cells),
    );
  return Object.entries(labels).map(([id, label]) => {
    const isOfId = (/** @type {string} */ name) => name.startsWith(`${id} `);
    const table = tables.find(([head]) => head?.some(isOfId)) ?? [];
    const column = table[0]?.findIndex(isOfId) ?? -1;
    const value = (/** @type {string[]} */ line) => Number(line[column]?.replaceAll(',', ''));
    const ours = table.find(([name]) => name === 'rockpool');
    const peers = table.filter(([name]) => name !== '' && !/^(rockpool|floor|native|---)/.test(name ?? ''));
    const best = Math.min(...peers.map(value).filter((one) => !Number.isNaN(one)));
    if (ours === undefined || !Number.isFinite(best)) throw new Error(`docs/benchmarks.md has no medians for ${id}`);
    return { label, ratio: value(ours) / best };
  });
}

const ROW = 22;
const LEFT = 172;
const WIDTH = 360;

/** The longest bar represents ten times, or a tenth of, the best peer's time. */
const SCALE = Math.log2(10);

/**
 * Bars on a logarithmic scale around the best peer.
 *
 * @param {string} title
 * @param {readonly Bar[]} bars
 */
function chart(title, bars) {
  const sorted = [...bars].sort((one, other) => one.ratio - other.ratio);
  const height = 62 + sorted.length * ROW;
  const middle = LEFT + (WIDTH - LEFT) / 2;
  const half = (WIDTH - LEFT) / 2 - 34;
  const x = (/** @type {number} */ ratio) =>
    middle + (Math.max(-SCALE, Math.min(SCALE, Math.log2(ratio))) / SCALE) * half;
  const rows = sorted.map(({ label, ratio }, index) => {
    const y = 48 + index * ROW;
    const isAhead = ratio <= 1;
    const [from, to] = isAhead ? [x(ratio), middle] : [middle, x(ratio)];
    const figure = ratio < 0.1 ? ratio.toFixed(2) : ratio.toFixed(ratio < 10 ? 2 : 1);
    return [
      `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${label}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 2}" width="${Math.max(1, to - from).toFixed(1)}" height="13" fill="${isAhead ? '#176b87' : '#c2571a'}"/>`,
      `<text x="${(isAhead ? from - 4 : to + 4).toFixed(1)}" y="${y + 12}" text-anchor="${isAhead ? 'end' : 'start'}">${figure}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="520" role="img" font-family="system-ui, sans-serif" font-size="11.5" fill="#1c2b33">
<title>${title}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="12" y="20" font-weight="600">${title}</text>
<text x="${middle - 8}" y="38" text-anchor="end" fill="#176b87">faster, smaller</text>
<text x="${middle + 8}" y="38" fill="#c2571a">slower, larger</text>
<line x1="${middle}" y1="28" x2="${middle}" y2="${height - 12}" stroke="#8a99a1"/>
${rows.join('\n')}
</svg>
`;
}

/** @returns {[path: string, svg: string][]} */
export function benchmarkCharts() {
  const document = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  const text = section(document, 'storage');
  const storage = [...compared(text, STORAGE), ...judged(text, FLUSHED)];
  const app = [...compared(section(document, 'client'), CLIENT), ...compared(section(document, 'sync'), SYNC)];
  return [
    ['docs/diagrams/benchmarks-storage.svg', chart('Storage: time, fastest peer = 1', storage)],
    ['docs/diagrams/benchmarks-sync.svg', chart('An app’s page, and sync: best peer = 1', app)],
  ];
}
