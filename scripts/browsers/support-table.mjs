// Turns the reports of the browser runs into the table in docs/browser-support.md. Pure.

/**
 * The test results of one browser.
 *
 * @typedef {object} BrowserResult
 * @property {string} browser the column heading, with its version
 * @property {Record<string, boolean | string>} capabilities a string is the name of the exception thrown
 * @property {Record<string, { passed: number, failed: number, isRefused: boolean }>} media
 */

/**
 * A test in a report of Vitest.
 *
 * @typedef {object} ReportedTest
 * @property {string[]} ancestorTitles
 * @property {string} title
 * @property {string} status
 * @property {{ capabilities?: BrowserResult['capabilities'] }} [meta]
 */

/**
 * @param {string} browser
 * @param {{ testResults: { assertionResults: ReportedTest[] }[] }} report
 * @returns {BrowserResult}
 */
export function resultOf(browser, report) {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  /** @type {BrowserResult['media']} */
  const media = {};
  /** @type {BrowserResult['capabilities']} */
  let capabilities = {};
  for (const { ancestorTitles, title, status, meta } of tests) {
    if (meta?.capabilities !== undefined) {
      capabilities = meta.capabilities;
      continue;
    }
    const medium = (media[ancestorTitles[0] ?? ''] ??= { passed: 0, failed: 0, isRefused: false });
    if (status === 'passed') medium.passed += 1;
    else medium.failed += 1;
    if (title.startsWith('is refused with ')) medium.isRefused = status === 'passed';
  }
  return { browser, capabilities, media };
}

/**
 * @param {readonly BrowserResult[]} results
 * @returns {string} a Markdown table
 */
export function supportTable(results) {
  const row = (/** @type {string} */ head, /** @type {(result: BrowserResult) => string} */ cell) =>
    `| ${head} | ${results.map(cell).join(' | ')} |`;
  const capabilities = unique(results.flatMap((result) => Object.keys(result.capabilities)));
  const media = unique(results.flatMap((result) => Object.keys(result.media)));
  return [
    row('', ({ browser }) => browser),
    row('---', () => '---'),
    ...capabilities.map((name) => row(name, (result) => capabilityCell(result.capabilities[name]))),
    ...media.map((name) => row(`**${name}**: the contract`, (result) => mediumCell(result.media[name]))),
  ].join('\n');
}

/** @param {boolean | string | undefined} seen */
function capabilityCell(seen) {
  if (typeof seen === 'string') return `throws ${seen}`;
  return seen === true ? 'yes' : 'no';
}

/** @param {BrowserResult['media'][string] | undefined} medium */
function mediumCell(medium) {
  if (medium === undefined) return 'not run';
  if (medium.isRefused) return 'refused, with a typed error';
  return medium.failed === 0
    ? `all ${medium.passed} pass`
    : `${medium.failed} of ${medium.passed + medium.failed} fail`;
}

/** @param {string[]} names */
function unique(names) {
  return [...new Set(names)];
}

const begin = '<!-- written by npm run test:browsers -- --write -->';
const end = '<!-- end -->';

/**
 * @param {string} document
 * @param {string} table
 * @returns {string} the document with the table between its two marks
 */
export function withTable(document, table) {
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error('docs/browser-support.md lacks the markers around its table');
  return `${document.slice(0, from + begin.length)}\n${table}\n${document.slice(to)}`;
}
