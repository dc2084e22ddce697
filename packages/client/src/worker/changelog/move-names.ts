import { bytesToHex, decodeOrigin, RockpoolError, VERSION_NAME_TABLE } from '@rockpool/shared';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface NamedVersions {
  readonly connection: Connection;
  readonly meta: Meta;
  readonly write: (request: WriteRequest) => WriteOutcome;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Lets the names of versions follow their changesets, which the site id has left: a name identifies a version by site
 * and sequence. Returns the names of the touched tables. After an error, the names stay as they are: sync must not wait
 * for them.
 */
export function moveNames(database: NamedVersions, oldSiteId: Uint8Array): readonly string[] {
  const statements = statementsFor(database, bytesToHex(oldSiteId));
  if (statements.length === 0) return [];
  try {
    return database.write({ id: bytesToHex(database.randomBytes(16)), statements }).touchedTables;
  } catch (thrown) {
    if (!(thrown instanceof RockpoolError)) throw thrown;
    return [];
  }
}

function statementsFor({ connection, meta }: NamedVersions, oldSite: string): SqlStatement[] {
  if (connection.value('SELECT 1 FROM sqlite_schema WHERE name = ?', VERSION_NAME_TABLE) === undefined) return [];
  const named = new Set(
    connection.rows(`SELECT DISTINCT sequence FROM ${VERSION_NAME_TABLE} WHERE site_id = ?`, oldSite).flat(),
  );
  if (named.size === 0) return [];
  return connection
    .rows('SELECT sequence, origin FROM rockpool_changelog WHERE sequence > 0 AND origin IS NOT NULL')
    .flatMap(([sequence, origin]): SqlStatement[] => {
      const { siteId, sequence: before } = decodeOrigin(origin as Uint8Array);
      if (bytesToHex(siteId) !== oldSite || !named.has(before)) return [];
      return [
        {
          sql: `UPDATE ${VERSION_NAME_TABLE} SET site_id = ?, sequence = ? WHERE site_id = ? AND sequence = ?`,
          params: [bytesToHex(meta.siteId), sequence ?? null, oldSite, before],
        },
      ];
    });
}
