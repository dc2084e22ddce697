import { join } from 'node:path';
import { root } from '../../scripts/children.mjs';

const output = join(root, 'benchmarks/dist/sync');

export const BUILT_SERVER: string = join(output, 'rockpool-server.js');

/** Our server as JavaScript: run from its sources it would carry the memory of what strips their types. */
export async function buildServer(): Promise<void> {
  const { build } = await import('vite');
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: join(import.meta.dirname, 'engines/rockpool-server.ts'), outDir: output, emptyOutDir: true, target: 'node24' },
  });
}
