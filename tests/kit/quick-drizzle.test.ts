import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const QUICK = new URL('./quick-drizzle.ts', import.meta.url).href;
const CLIENT = fileURLToPath(new URL('../../packages/client/', import.meta.url));

interface Imports {
  /** Importing module, specifier, address and format of each import within Drizzle. */
  readonly resolved: readonly (readonly [string, string, string, string])[];
  /** How many relative imports Node resolved. */
  readonly byNode: number;
}

/** The imports of a process that imports Drizzle. Node calls the hook that was registered last first. */
const script = (isQuick: boolean): string => `
  import { registerHooks } from 'node:module';
  const isInDrizzle = ({ parentURL }) => parentURL?.includes('/drizzle-orm/') === true;
  const resolved = [];
  let byNode = 0;
  registerHooks({
    resolve(specifier, context, next) {
      if (isInDrizzle(context) && specifier.startsWith('.')) byNode++;
      return next(specifier, context);
    },
  });
  ${isQuick ? `await import(${JSON.stringify(QUICK)});` : ''}
  registerHooks({
    resolve(specifier, context, next) {
      const { url, format, ...rest } = next(specifier, context);
      if (isInDrizzle(context)) resolved.push([context.parentURL, specifier, url, format]);
      return { url, format, ...rest };
    },
  });
  for (const path of ['', '/sqlite-core', '/sqlite-proxy']) await import('drizzle-orm' + path);
  process.stdout.write(JSON.stringify({ resolved, byNode }));
`;

function importsOf(isQuick: boolean): Imports {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script(isQuick)], {
    cwd: CLIENT,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Imports;
}

it('imports within Drizzle lead to the modules that Node would find, and none is left to Node', () => {
  const [quick, usual] = [importsOf(true), importsOf(false)];
  expect(quick.resolved.map(String).toSorted()).toEqual(usual.resolved.map(String).toSorted());
  expect(usual.byNode).toBeGreaterThan(100);
  expect(quick.byNode).toBe(0);
});
