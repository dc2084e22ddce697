import { syncedTables, SYSTEM_TABLES, type Schema } from '@rockpool/shared';
import { columnIdsByTable, withinSchema } from '../apply/within-schema.ts';
import { addUnseenColumns } from '../file/unseen-columns.ts';
import type { OpenDatabase } from '../database/open-database.ts';

/** The schema that the next hello names: the file's, or the app's if the server does not have the file's. */
export interface ServedSchema {
  readonly schema: Schema;
  /** Whether that is the app's schema even though the file has more columns. */
  readonly isNarrow: boolean;
  /** Called when the server does not have the named schema. Returns whether a different one can be named at once. */
  tryOther(): boolean;
  /** Called when the server has welcomed the named schema. */
  note(): void;
}

export function createServedSchema(database: OpenDatabase): ServedSchema {
  const { meta, schema, appSchema } = database;
  let isNarrow = false;
  return {
    get schema() {
      return isNarrow ? appSchema : schema;
    },
    get isNarrow() {
      return isNarrow;
    },
    tryOther() {
      isNarrow = !isNarrow && schema.hash !== appSchema.hash && database.readOnly === null && pendingFitsApp(database);
      return isNarrow;
    },
    /** Once the server has the file's schema, it may already have values in the additional columns. */
    note() {
      if (isNarrow === meta.syncedWithAppSchema) return;
      if (isNarrow) addUnseenColumns(meta, appSchema, schema);
      else meta.set('wants_whole', 1);
      meta.set('synced_narrow', isNarrow ? 1 : 0);
    },
  };
}

/**
 * A server that lacks a column of a pending changeset would reject the changeset, so nothing is pushed until the server
 * has the file's schema.
 */
function pendingFitsApp({ appSchema, changelog, outbox }: OpenDatabase): boolean {
  const known = columnIdsByTable(
    new Map([...syncedTables(appSchema), ...SYSTEM_TABLES].map((table) => [table.id, table])),
  );
  for (const changeset of changelog.readAfter(outbox.lastAckedSequence()))
    if (withinSchema(changeset, known) !== changeset) return false;
  return true;
}
