import { decodeSchema, RockpoolError, type Schema, type SnapshotPosition } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** Where in the log the rows of a snapshot's file are. Throws `schema-mismatch` for rows of another schema. */
export function readSnapshotFacts(connection: Connection, schema: Schema): SnapshotPosition & { readonly schema: Schema } {
  const [facts] = connection.rows('SELECT schema_json, epoch, watermark, link FROM rockpool_snapshot');
  const [schemaJson, epoch, watermark, link] = (facts ?? []) as [string?, Uint8Array?, number?, Uint8Array?];
  const stored = decodeSchema(schemaJson ?? '');
  if (stored.hash !== schema.hash || epoch === undefined || watermark === undefined || link === undefined) throw new RockpoolError('schema-mismatch');
  return { schema: stored, epoch, watermark, link };
}
