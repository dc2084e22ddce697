import { OF_ANOTHER_LOG } from './kept-changesets.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * Inserts the changesets that were kept under a different log epoch as acknowledged ones, with sequences from
 * `firstOwn` on. The changesets that had these sequences move up. Call before renumbering for a new site. Returns the
 * number of inserted changesets; 0 before the first welcome, when `logEpoch` is null.
 */
export function insertKept(
  connection: Connection,
  logEpoch: Uint8Array | null,
  firstOwn: number,
  lastAckedSequence: number,
): number {
  if (logEpoch === null) return 0;
  const kept = connection.rows(
    `SELECT sequence FROM rockpool_changelog WHERE ${OF_ANOTHER_LOG} ORDER BY sequence`,
    logEpoch,
  );
  if (kept.length === 0) return 0;
  for (const [sequence] of connection.rows(
    'SELECT sequence FROM rockpool_changelog WHERE sequence >= ? ORDER BY sequence DESC',
    firstOwn,
  ) as [number][])
    moveChangeset(connection, sequence, sequence + kept.length);
  connection.run('UPDATE rockpool_request SET sequence = sequence + ? WHERE sequence >= ?', kept.length, firstOwn);
  const numbers = new Map(kept.map(([sequence], index) => [sequence as number, firstOwn + index]));
  for (const [from, to] of numbers) moveChangeset(connection, from, to);
  moveRequests(connection, numbers);
  connection.exec(
    'UPDATE rockpool_changelog SET kept_ms = NULL, kept_epoch = NULL WHERE kept_ms IS NOT NULL AND sequence > 0',
  );
  // They count as acknowledged, because the local rows already have their effects.
  const newestMs = (connection.value('SELECT max(decided_ms) FROM rockpool_decided') ?? 0) as number;
  connection.exec('DELETE FROM rockpool_decided');
  connection.run(
    'INSERT INTO rockpool_decided (up_to, decided_ms) VALUES (?, ?)',
    Math.max(lastAckedSequence, firstOwn - 1) + kept.length,
    newestMs,
  );
  return kept.length;
}

/**
 * Keeps the changesets before `firstOwn` that are not rejected, at sequences below `lowest`. `logEpoch` is the log
 * epoch of the server that has them. Returns the new sequences by the old ones.
 */
export function keepBefore(
  connection: Connection,
  logEpoch: Uint8Array | null,
  firstOwn: number,
  lowest: number,
): ReadonlyMap<number, number> {
  const before = connection.rows(
    `SELECT sequence, coalesce((SELECT min(decided_ms) FROM rockpool_decided WHERE up_to >= sequence), (SELECT max(decided_ms) FROM rockpool_decided), 0)
     FROM rockpool_changelog WHERE sequence > 0 AND sequence < ? AND sequence NOT IN (SELECT sequence FROM rockpool_parked) ORDER BY sequence`,
    firstOwn,
  ) as [number, number][];
  const numbers = new Map<number, number>();
  before.forEach(([sequence, keptMs], index) => {
    const below = lowest - before.length + index;
    numbers.set(sequence, below);
    moveChangeset(connection, sequence, below);
    connection.run(
      'UPDATE rockpool_changelog SET kept_ms = ?, kept_epoch = ? WHERE sequence = ?',
      keptMs,
      logEpoch,
      below,
    );
  });
  return numbers;
}

/** Gives requests the new sequences of their changesets, by the old ones. The table has no index of sequences. */
export function moveRequests(connection: Connection, numbers: ReadonlyMap<number, number>): void {
  const requests = connection.rows('SELECT id, sequence FROM rockpool_request') as [Uint8Array | string, number][];
  for (const [id, sequence] of requests) {
    const to = numbers.get(sequence);
    if (to !== undefined) connection.run('UPDATE rockpool_request SET sequence = ? WHERE id = ?', to, id);
  }
}

/** Deletes the changesets before `firstOwn`, except rejected ones. */
export function forgetBefore(connection: Connection, firstOwn: number): void {
  connection.run(
    'DELETE FROM rockpool_changelog WHERE sequence > 0 AND sequence < ? AND sequence NOT IN (SELECT sequence FROM rockpool_parked)',
    firstOwn,
  );
}

/** Assigns a changeset a different sequence, also in the list of rejected changesets. */
export function moveChangeset(connection: Connection, from: number, to: number): void {
  connection.run('UPDATE rockpool_changelog SET sequence = ? WHERE sequence = ?', to, from);
  connection.run('UPDATE rockpool_parked SET sequence = ? WHERE sequence = ?', to, from);
}
