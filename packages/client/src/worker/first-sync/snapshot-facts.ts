import { decodeSchema, encodeOutline, RockpoolError, type Schema, type SnapshotPosition } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { mismatchFields } from '../sync/schema-mismatch.ts';

/** What a snapshot's file says of its rows. */
export interface SnapshotFacts extends SnapshotPosition {
  readonly schema: Schema;
  /** Of the server database that they are of. */
  readonly databaseIdentity: Uint8Array;
}

/**
 * Which database the rows of a snapshot's file are of, and where in its log they are. Throws `schema-mismatch` for rows
 * of another schema, `snapshot-unavailable` for a file that does not say it.
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
  if (stored.hash !== schema.hash)
    throw new RockpoolError('schema-mismatch', mismatchFields(schema, { outline: encodeOutline(stored) }));
  if (logEpoch === undefined || watermark === undefined || logHash === undefined || databaseIdentity === undefined)
    throw new RockpoolError('snapshot-unavailable', {
      stage: 'snapshot-store',
      problem: 'the file does not say where its rows are from',
    });
  return { schema: stored, databaseIdentity, logEpoch, watermark, logHash };
}
