import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const FUZZ = fileURLToPath(new URL('../../packages/client/sqlite/testing/fuzz.mjs', import.meta.url));

/** Runs `fuzz.mjs scan`, which fetches SQLite's source from the package registry, and needs a C compiler as `cc`. */
export async function fuzzScans(
  ...args: readonly string[]
): Promise<{ readonly code: unknown; readonly output: string }> {
  const child = spawn(process.execPath, [FUZZ, 'scan', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, output: `${stdout}${stderr}` };
}
