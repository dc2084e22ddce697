import { apiPage } from './api-page.mjs';
import { benchmarkCharts } from './benchmark-charts.mjs';
import { configurationPage } from './configuration-page.mjs';
import { decisionsPage } from './decisions-page.mjs';
import { errorPage } from './error-page.mjs';
import { metricsPage } from './metrics-page.mjs';

const MARK = '<!-- Written by scripts/docs/generate.mjs. -->\n\n';

/** @returns {Map<string, string>} the content of every generated file, by its path from the root */
export function generatedFiles() {
  return new Map([
    ['docs/api.md', `---\noutline: 2\n---\n\n${MARK}${apiPage()}`],
    ['docs/configuration.md', MARK + configurationPage()],
    ['docs/decisions/index.md', MARK + decisionsPage()],
    ['docs/errors.md', `---\noutline: 2\n---\n\n${MARK}${errorPage()}`],
    ['docs/operations/metrics-and-log.md', MARK + metricsPage()],
    ...benchmarkCharts(),
  ]);
}
