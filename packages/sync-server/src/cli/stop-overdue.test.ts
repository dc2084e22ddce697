import { expect, it } from 'vitest';
import { ServerProcess, serverFlags } from '../../testing/server-process.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

/** Runs in the server's process first: a listening socket never closes, and 28 s pass at once. */
const HANGING_STOP = `
  import { Server } from 'node:net';
  Server.prototype.close = function () { return this; };
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, delayMs, ...args) => setTimeout(run, delayMs === 28_000 ? 1 : delayMs, ...args);
`;

it('the command ends with a log line if its stop is not complete after 28 s', async () => {
  const folder = temporaryFolder();
  const server = await ServerProcess.start(folder, serverFlags(folder), {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HANGING_STOP)}`,
  });
  const { code, stderr } = await server.signal('SIGTERM');
  const events = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly event: string });
  expect([code, events.at(-1)]).toMatchObject([1, { event: 'stop-overdue', afterMs: 28_000 }]);
});
