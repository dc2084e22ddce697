// `npm run docs:generate` writes the generated pages. `npm run docs` serves the documentation site and follows changes;
// `npm run docs:build` builds it into .rockpool/docs/site and fails on a link to a missing page. Neither needs a
// network once dependencies are installed.

import { join } from 'node:path';
import { root, runNode24 } from './children.mjs';
import { isMain, runCommand, setup } from './setup.mjs';

/** @param {'build' | 'dev'} command of VitePress */
export async function runVitePress(command) {
  const args = [join(root, 'node_modules/vitepress/bin/vitepress.js'), command, join(root, 'docs')];
  return (await runNode24(args)).exitCode;
}

if (isMain(import.meta.url)) {
  await runCommand(async () => {
    await setup();
    if (process.argv.includes('--generate'))
      return (await runNode24([join(root, 'scripts/docs/generate.mjs')])).exitCode;
    return runVitePress(process.argv.includes('--build') ? 'build' : 'dev');
  });
}
