import config from './playwright.config.ts';

/** `npm run screenshots`: docs/screenshots made anew. */
export default { ...config, testDir: 'screenshots', reporter: [['list']] };
