import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { root } from '../children.mjs';
import { bundledScripts } from './bundled-scripts.mjs';
import { sourceFiles } from './test-files.mjs';

it('every script that the sync server starts, and its command, are bundled, so that they load few files', async () => {
  const { transform } = /** @type {{ transform: (code: string, id: string) => Promise<{ code: string } | null> }} */ (
    /** @type {unknown} */ (bundledScripts())
  );
  const bundled = new Set();
  for (const file of sourceFiles().filter((one) => /^packages\/sync-server\/(src|testing)\//.test(one))) {
    const changed = await transform(readFileSync(join(root, file), 'utf8'), join(root, file));
    for (const [, address = ''] of changed?.code.matchAll(/new URL\("(file:[^"]+)"\)/g) ?? []) {
      bundled.add(basename(address, '.mjs'));
      // It imports only Node's modules and other bundles.
      expect(readFileSync(fileURLToPath(address), 'utf8')).not.toMatch(/^import .*from "(?!node:|\.\/)/m);
    }
  }
  const names = ['admin-process', 'database-worker', 'document-worker', 'past-state-worker', 'rockpool-server'];
  expect(bundled).toEqual(new Set([...names, 'snapshot-worker']));
});
