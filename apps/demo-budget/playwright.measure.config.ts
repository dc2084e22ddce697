import config from './playwright.config.ts';

/** How long the app takes to answer with 100,000 entries; see measure/answers.spec.ts. */
export default { ...config, testDir: 'measure', reporter: [['list']], timeout: 600_000 };
