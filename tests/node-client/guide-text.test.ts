import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The test imports the packages' sources. */
function asInstalled(code: string): string {
  return code
    .replaceAll(
      /'#(client|sync-server)\/(?:(\w+)\/)?index\.ts'/g,
      (_, name: string, entry?: string) => `'@rockpool/${name}${entry === undefined ? '' : `/${entry}`}'`,
    )
    .replaceAll("'../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js'", "'drizzle-orm/sqlite-core'");
}

it('the testing guide shows guide.test.ts, byte for byte', () => {
  const [, code] = /```ts\n(.*?)```\n/s.exec(textOf('../../docs/guides/testing.md')) ?? [];
  expect(asInstalled(textOf('guide.test.ts'))).toBe(code);
});
