// `npm run bench:page`: serves a page that runs the benchmarks in the browser that opens it.

import { join } from 'node:path';
import { root, runNode24 } from './children.mjs';
import { runCommand, setup } from './setup.mjs';

await runCommand(async () => {
  await setup();
  return (await runNode24([join(root, 'benchmarks/try/serve.ts')])).exitCode;
});
