import type { Connection } from '../sqlite/connection.ts';

/** Assigns a changeset another sequence, even if it is rejected. */
export function moveChangeset(connection: Connection, from: number, to: number): void {
  connection.run('UPDATE rockpool_changelog SET sequence = ? WHERE sequence = ?', to, from);
  connection.run('UPDATE rockpool_parked SET sequence = ? WHERE sequence = ?', to, from);
}
