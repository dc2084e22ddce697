import { RockpoolError } from '@rockpool/shared';
import type { BranchStart } from '../../rpc/branch-file.ts';
import type { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';

/** The open file, and the newest storage format that this version supports. */
export interface RestoredFile {
  readonly connection: Connection;
  readonly meta: Meta;
  readonly supported: number;
}

/**
 * Checks that the file is an intact Rockpool database and marks it as a copy, before it replaces anything. `branchId`
 * makes it a branch. It is loaded on first use, so it imports no module of the worker's first script.
 */
export function prepareRestored({ connection, meta, supported }: RestoredFile, branchId: string | null): void {
  if (connection.value('PRAGMA quick_check(1)') !== 'ok')
    throw new RockpoolError('storage-corrupt', { problem: 'quick_check' });
  if (!meta.exists) throw new RockpoolError('schema-incompatible', { problem: 'the file is not a Rockpool database' });
  const format = meta.get('storage_format');
  if (typeof format !== 'number' || format > supported)
    throw new RockpoolError('schema-incompatible', {
      problem: 'the storage format is not supported',
      found: String(format),
      supported,
    });
  meta.set('is_restored', 1);
  if (branchId !== null)
    meta.set(
      'branch_json',
      JSON.stringify({
        id: branchId,
        sequence: connection.value('SELECT ifnull(max(sequence), 0) FROM rockpool_changelog') as number,
        schemaHash: meta.schemaHash,
        begunMs: Date.now(),
      } satisfies BranchStart),
    );
}
