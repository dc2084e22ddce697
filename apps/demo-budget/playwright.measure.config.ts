import { findChromium } from '../../scripts/find-chromium.mjs';
import config from './playwright.config.ts';

// A browser as people use it.
const complete = findChromium('complete');
if (complete !== undefined) process.env['ROCKPOOL_CHROMIUM'] ??= complete;

/** Reports how long the app takes to respond with 100,000 entries; see measure/answers.spec.ts. */
export default { ...config, testDir: 'measure', reporter: [['list']], timeout: 600_000 };
