// `npm run pack`: packs the packages into .rockpool/packages as files for `npm install` in an app outside this
// repository.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './children.mjs';
import { pnpm, runCommand, setup } from './setup.mjs';

const folder = join(root, '.rockpool/packages');
const everyPackage = ['--recursive', '--filter', './packages/*'];

await runCommand(async () => {
  await setup();
  rmSync(folder, { recursive: true, force: true });
  for (const step of [
    ['run', 'build'],
    ['pack', '--pack-destination', folder],
  ]) {
    const { exitCode, output } = await run(...pnpm([...everyPackage, ...step]), { quiet: true });
    if (exitCode === 0) continue;
    console.error(output);
    return exitCode;
  }
  console.log(`To use them in an app: npm install ${join(folder, '*.tgz')}`);
  return 0;
});
