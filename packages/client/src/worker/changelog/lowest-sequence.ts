import type { Connection } from '../sqlite/connection.ts';

/** The lowest sequence in use, or 0 if no sequence is negative. */
export function lowestSequence(connection: Connection): number {
  return connection.value(
    'SELECT min(0, ifnull((SELECT min(sequence) FROM rockpool_changelog), 0), ifnull((SELECT min(sequence) FROM rockpool_parked), 0))',
  ) as number;
}
