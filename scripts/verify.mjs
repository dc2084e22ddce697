// `npm run verify`: types, lint, format, build, documentation and tests, identical locally and in CI. `--deep` adds the
// longer tests.

import { join } from 'node:path';
import { root, run, runNode24, stopSignal } from './children.mjs';
import { runVitePress } from './docs.mjs';
import { runCommand, pnpm, setup } from './setup.mjs';
import { runTests } from './test.mjs';

const deep = process.argv.includes('--deep');

/** @param {string} task as named in turbo.json */
const turbo = async (task) =>
  (await run(...pnpm(['exec', 'turbo', 'run', task, '--output-logs=errors-only', '--continue']))).exitCode === 0;

const oxlint = async () =>
  (await runNode24([join(root, 'node_modules/oxlint/bin/oxlint'), '--type-aware'])).exitCode === 0;

const oxfmt = async () => (await runNode24([join(root, 'node_modules/oxfmt/bin/oxfmt'), '--check'])).exitCode === 0;

/** @type {[name: string, step: () => Promise<boolean>][]} */
const steps = [
  ['types', () => turbo('types')],
  ['lint', oxlint],
  ['format', oxfmt],
  ['build', () => turbo('build')],
  ['docs', async () => (await runVitePress('build')) === 0],
  ['tests', () => runTests({ level: deep ? 'deep' : 'verify' })],
];

await runCommand(async () => {
  await setup();
  const results = [];
  // Runs all steps even after a failure, so that one CI log lists every problem.
  for (const [name, step] of steps) {
    if (stopSignal() !== undefined) break;
    console.log(`\n━━ ${name}`);
    const startMs = Date.now();
    results.push({ name, ok: await step(), seconds: (Date.now() - startMs) / 1000 });
  }
  console.log(
    `\n${results.map(({ name, ok, seconds }) => `${ok ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`).join('\n')}`,
  );
  return results.length === steps.length && results.every(({ ok }) => ok) ? 0 : 1;
});
