import { RockpoolError } from '@rockpool/shared';
import { listBackups, type ListedBackup } from '../backup/backup-list.ts';
import { listCopies } from '../backup/generations.ts';
import { sourceOfFile } from '../backup/object-names.ts';
import { databaseFileName } from '../store/data-directory.ts';
import type { AdminRoute } from './admin-route.ts';

export interface DatabaseBackups {
  /** Where the server copies databases to. Null if it makes no continuous backup. */
  readonly destination: string | null;
  /** Newest first. */
  readonly backups: readonly ListedBackup[];
  /** The number of backups of the database on all pages, and their total size. */
  readonly total: number;
  readonly totalBytes: number;
  /** The `before` of the next page, ms since 1970. Null if this is the last page. */
  readonly next: number | null;
}

const PAGE_SIZE = 100;

/**
 * Returns the DatabaseBackups of a database, at most 100 per response: only those older than `?before=`, in ms since
 * 1970. Throws `request-invalid` if `before` is not a number.
 */
export const databaseBackups: AdminRoute = {
  method: 'GET',
  path: '/databases/:databaseId/backups',
  answer: async ({ services, databaseId, request }) => {
    const { backupDestination: destination } = services;
    const text = new URL(request.url).searchParams.get('before');
    if (text !== null && !/^\d{1,15}$/.test(text))
      throw new RockpoolError('request-invalid', {
        problem: '`before` must be a number of milliseconds since the Unix epoch',
      });
    const beforeMs = text === null ? Infinity : Number(text);
    const all =
      destination === null
        ? []
        : listBackups(await listCopies(destination, sourceOfFile(databaseFileName(databaseId))));
    const older = all.filter(({ timeMs }) => timeMs < beforeMs);
    const backups = older.slice(0, PAGE_SIZE);
    const answer: DatabaseBackups = {
      destination: destination?.name ?? null,
      backups,
      total: all.length,
      totalBytes: all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      next: older.length > PAGE_SIZE ? (backups.at(-1)?.timeMs ?? null) : null,
    };
    return Response.json(answer);
  },
};
