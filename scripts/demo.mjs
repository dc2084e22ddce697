// `npm run demo`: installs, builds, and runs the demo with its sync server until a signal stops it. `PORT` sets the
// port.

import { join } from 'node:path';
import { root, runNode24, stopSignal } from './children.mjs';
import { buildDemo } from './demo-build.mjs';
import { runCommand, setup } from './setup.mjs';

await runCommand(async () => {
  await setup();
  await buildDemo();
  return (await runNode24([join(root, 'apps/demo-budget/server/serve.ts')])).exitCode;
});
// A stop by signal is success; a demo that exits by itself has failed.
if (stopSignal() !== undefined) process.exitCode = 0;
