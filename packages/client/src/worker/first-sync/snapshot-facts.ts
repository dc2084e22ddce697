import { decodeSchema, RockpoolError, type Schema, type SnapshotPosition } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** What the file of a snapshot states about its rows. */
export interface SnapshotFacts extends SnapshotPosition {
  readonly schema: Schema;
  /** Identity of the server database that the rows belong to. */
  readonly databaseIdentity: Uint8Array;
}

/**
 * Reads to which database the rows of a snapshot's file belong, and their position in its log. Throws `schema-mismatch`
 * for rows of a different schema, and `snapshot-unavailable` for a file that does not state them.
 */
export function readSnapshotFacts(connection: Connection, schema: Schema): SnapshotFacts {
  const [facts] = connection.rows(
    'SELECT schema_json, epoch, watermark, link, database_identity FROM rockpool_snapshot',
  );
  const [schemaJson, logEpoch, watermark, logHash, databaseIdentity] = (facts ?? []) as [
    string?,
    Uint8Array?,
    number?,
    Uint8Array?,
    Uint8Array?,
  ];
  const stored = decodeSchema(schemaJson ?? '');
  if (stored.hash !== schema.hash) throw new RockpoolError('schema-mismatch', { stage: 'snapshot-store' });
  if (logEpoch === undefined || watermark === undefined || logHash === undefined || databaseIdentity === undefined)
    throw new RockpoolError('snapshot-unavailable', {
      stage: 'snapshot-store',
      problem: 'the file lacks its log epoch, watermark, log hash or identity',
    });
  return { schema: stored, databaseIdentity, logEpoch, watermark, logHash };
}
