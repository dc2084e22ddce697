import type { Connection } from '../sqlite/connection.ts';

/*
 * Changesets that the server admitted under an earlier site id of this file, at sequences below 0. They are not sent,
 * because the server has them. A restored server may have lost them, and perhaps no other device has them: the copy
 * that sent them may be lost or may have a new site id. They are then sent again under the current site id. The server
 * recognizes those that it still has by their origins.
 */

/** A condition on rockpool_changelog with one parameter, the log epoch of the server. */
export const OF_ANOTHER_LOG = 'kept_ms IS NOT NULL AND kept_epoch IS NOT ?';

/** Whether there are kept changesets that the server with this log epoch may lack. */
export function hasKept(connection: Connection, logEpoch: Uint8Array): boolean {
  return connection.value(`SELECT 1 FROM rockpool_changelog WHERE ${OF_ANOTHER_LOG} LIMIT 1`, logEpoch) !== undefined;
}
