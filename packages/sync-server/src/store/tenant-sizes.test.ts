import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import type { LogFields } from '../observe/log-line.ts';
import { databasePath } from './data-directory.ts';
import { TenantSizes } from './tenant-sizes.ts';

function sizesOf(ids: readonly string[]): { readonly sizes: TenantSizes; readonly logged: LogFields[] } {
  const folder = temporaryFolder();
  for (const id of ids) writeFileSync(databasePath(folder, id), 'x'.repeat(100));
  const logged: LogFields[] = [];
  const tenantOf = (id: string): string => {
    const [tenant, part] = id.split('-');
    if (part === undefined) throw new Error('a private detail');
    return tenant as string;
  };
  const sizes = new TenantSizes(
    folder,
    (id) => databasePath(folder, id),
    tenantOf,
    (_, fields) => void logged.push(fields),
  );
  return { sizes, logged };
}

it('a database whose tenant is unknown does not end the limits of the others', () => {
  const { sizes, logged } = sizesOf(['acme-1', 'acme-2', 'nobody', 'none']);
  expect(sizes.bytesOf('acme-1')).toBe(200);
  expect(logged).toMatchObject([{ database: 'nobody', databases: 2 }]);
  expect(() => sizes.bytesOf('nobody')).toThrow('the tenant of the database is unknown');
  expect([[...sizes.databasesOver(200)], [...sizes.unnamed]]).toEqual([
    ['acme-1', 'acme-2'],
    ['nobody', 'none'],
  ]);
});

it('threads learn of the full tenants although the host fails for a database', async () => {
  const { sizes } = sizesOf(['acme-1', 'nobody']);
  const { promise, resolve } = Promise.withResolvers<void>();
  onTestFinished(sizes.watch(resolve));
  await promise;
  expect([...sizes.databasesOver(100)]).toEqual(['acme-1']);
});
