import { expect, it } from 'vitest';
import { run } from './children.mjs';

/** Starts a process that keeps the output open forever, prints its id, and exits. */
const leavesAProcess = `
  const left = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000_000)'], {
    stdio: 'inherit',
    detached: true,
  });
  left.unref();
  console.log(left.pid);
`;

it('a run ends even if a process that the child left behind keeps the output open', async () => {
  const { exitCode, output } = await run(process.execPath, ['-e', leavesAProcess], { quiet: true, outputGraceMs: 0 });
  // `kill(0)` would end the test process itself.
  expect(Number(output)).toBeGreaterThan(0);
  process.kill(Number(output), 'SIGKILL');
  expect(exitCode).toBe(0);
});

it('a run returns all output of a child that has exited, and its exit code', async () => {
  const lines = 100_000;
  const { exitCode, output } = await run(
    process.execPath,
    ['-e', `console.log(${JSON.stringify('line\n')}.repeat(${lines}).trimEnd()); process.exitCode = 3`],
    { quiet: true },
  );
  expect(exitCode).toBe(3);
  expect(output.trim().split('\n')).toHaveLength(lines);
});
