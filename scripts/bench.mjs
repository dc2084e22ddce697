// `npm run bench -- GROUP`: runs benchmarks/GROUP.ts on Node 24. Lists the groups if none is given.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './browser.mjs';
import { root, runNode24 } from './children.mjs';
import { runCommand, setup } from './setup.mjs';

const [group, ...args] = process.argv.slice(2);
const folder = join(root, 'benchmarks');
const groups = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length));

await runCommand(async () => {
  if (group === undefined || !groups.includes(group)) {
    console.log(`${group === undefined ? 'Usage: npm run bench -- GROUP' : `Unknown group "${group}".`}`);
    console.log(`Groups: ${groups.sort().join(', ')}`);
    return group === undefined ? 0 : 1;
  }
  await setup();
  const chromium = await ensureChromium('complete');
  return (await runNode24([join(folder, `${group}.ts`), ...args], { env: { ROCKPOOL_CHROMIUM: chromium } })).exitCode;
});
