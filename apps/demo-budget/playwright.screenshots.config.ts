import config from './playwright.config.ts';

/** `npm run screenshots`: regenerates docs/screenshots. */
export default { ...config, testDir: 'screenshots', reporter: [['list']] };
