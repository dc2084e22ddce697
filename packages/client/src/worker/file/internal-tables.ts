import { SYSTEM_TABLES, tableToDdl } from '@rockpool/shared';

// Comments here are not part of the SQL, which every page loads.

// States of documents (shared/document) as the visible rows show them. A document without an entry has the state that
// follows from its JSON alone. `key`: the encoded key of the row.
const DOCUMENT_DDL: string = `CREATE TABLE rockpool_document (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,
    column_id INTEGER NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (table_id, key, column_id)
  ) WITHOUT ROWID`;

// The bases of the document states that this device has edited (documents/document-bases.ts). `key`: the encoded key of
// the row. `id`: 16 bytes, a hash of what follows. `yjs`: a Yjs update, the whole document.
const DOCUMENT_BASE_DDL: readonly string[] = [
  `CREATE TABLE rockpool_document_base (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,
    column_id INTEGER NOT NULL,
    id BLOB NOT NULL,
    yjs BLOB NOT NULL,
    PRIMARY KEY (table_id, key, column_id, id)
  ) WITHOUT ROWID`,
  'CREATE INDEX rockpool_document_base_by_id ON rockpool_document_base (id)',
];

// Admitted changesets, compressed (changelog/changeset-pack.ts): those from `first` to `last`, without gaps.
const CHANGELOG_PACK_DDL =
  'CREATE TABLE rockpool_changelog_pack (last INTEGER PRIMARY KEY NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL)';

// Completed requests, so that a tab that received no response can safely repeat its request. `id`: a UUID as 16 bytes,
// any other id as text (changelog/request-key.ts). `done_ms`: 0 if the id contains the time. `sequence`: that of its
// changeset; NULL if it changed no synced row. `tables_json`: the tables that it touched besides those of its changeset
// (before format 9, all of them); empty if there are none. `results_json`: NULL if it has none.
const REQUEST_DDL: string = `CREATE TABLE rockpool_request (
    id BLOB PRIMARY KEY NOT NULL,
    done_ms INTEGER NOT NULL,
    sequence INTEGER,
    tables_json TEXT NOT NULL,
    results_json TEXT
  ) WITHOUT ROWID`;

const REQUESTS_IN_COLUMNS: readonly string[] = [
  'ALTER TABLE rockpool_request RENAME TO rockpool_request_json',
  REQUEST_DDL,
  `INSERT INTO rockpool_request SELECT iif(id = lower(id) AND length(unhex(id, '-')) = 16, unhex(id, '-'), id), done_ms,
     outcome_json ->> '$.sequence', outcome_json -> '$.touchedTables', outcome_json -> '$.results' FROM rockpool_request_json`,
  'DROP TABLE rockpool_request_json',
];

const KEPT_INDEX_DDL: string =
  'CREATE INDEX rockpool_changelog_kept ON rockpool_changelog (kept_ms) WHERE kept_ms IS NOT NULL';

/**
 * Version of the tables below. A file with a different number was written by a different version of Rockpool.
 *
 * 1: first version. 2: changesets record how far the clock has been set since they were written; closed entries of
 * rejected changesets stay as long as their changeset. 3: documents. 4: conflicts inside documents have a path. 5:
 * edited document states have a base. 6: re-created changesets have an origin. 7: admitted changesets are packed,
 * requests have columns. 8: changesets of an earlier site id are kept. 9: requests omit what their ids and changesets
 * contain. 10: columns of documents may be stored as JSONB.
 */
export const STORAGE_FORMAT = 10;

/** The statements that bring each older format to the next. */
export const FORMAT_STEPS: Readonly<Record<number, readonly string[]>> = {
  1: [
    'ALTER TABLE rockpool_changelog ADD COLUMN shift_us INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE rockpool_parked ADD COLUMN closed INTEGER NOT NULL DEFAULT 0',
  ],
  2: [DOCUMENT_DDL],
  3: ['ALTER TABLE rockpool_conflict ADD COLUMN path TEXT'],
  4: DOCUMENT_BASE_DDL,
  5: ['ALTER TABLE rockpool_changelog ADD COLUMN origin BLOB'],
  6: [CHANGELOG_PACK_DDL, ...REQUESTS_IN_COLUMNS],
  7: [
    'ALTER TABLE rockpool_changelog ADD COLUMN kept_ms INTEGER',
    'ALTER TABLE rockpool_changelog ADD COLUMN kept_epoch BLOB',
    KEPT_INDEX_DDL,
  ],
  8: [],
  9: [],
};

/** Rockpool's own tables in every client database. Their rows change in the same transactions as the app's rows. */
export const INTERNAL_DDL: readonly string[] = [
  // Facts about this database, under the keys in meta.ts.
  'CREATE TABLE rockpool_meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID',

  // Every changeset that this device has written, in order. Sequences and hashes change only with the site id.
  // Changesets above rockpool_decided form the outbox.
  // - `sequence`: 1, 2, 3 … without gaps, packed ones included; from below, decided ones are pruned, but the last row
  //   always stays. Below 0: rejected and kept ones from before the site id changed
  // - `stamp_us`: local time at commit, rising (shared/clock/local-time.ts)
  // - `base`: the cursor at commit
  // - `hash`: over the row before it, the numbers and the body
  // - `body`: the changeset as it travels
  // - `before`: the old values, for this device alone
  // - `shift_us`: what to add to the stamp to have what the wall clock showed; not 0 once it was set back
  // - `origin`: the changeset that this one was re-created from (shared/change/changeset-origin.ts); NULL for none
  // - `kept_ms`: of one kept for a restored server (changelog/kept-changesets.ts), when it was decided
  // - `kept_epoch`: of one kept, the epoch of the log that has it
  `CREATE TABLE rockpool_changelog (
    sequence INTEGER PRIMARY KEY NOT NULL,
    stamp_us INTEGER NOT NULL,
    base INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body BLOB NOT NULL,
    before BLOB NOT NULL,
    shift_us INTEGER NOT NULL DEFAULT 0,
    origin BLOB,
    kept_ms INTEGER,
    kept_epoch BLOB
  )`,
  KEPT_INDEX_DDL,

  CHANGELOG_PACK_DDL,

  // When the server had decided all changesets up to a sequence. The last row is the last acknowledged sequence; the
  // older rows determine when changesets may be pruned.
  'CREATE TABLE rockpool_decided (up_to INTEGER PRIMARY KEY NOT NULL, decided_ms INTEGER NOT NULL)',

  // Rejected changesets: rejected by the server, or by constraints on this device. They wait for the user's decision.
  // - `sequence`: in rockpool_changelog; below 0 and closed, no longer there
  // - `code`, `fields_json`: the error
  // - `closed`: 1 if it was tried again or dropped. Kept for as long as the changeset, which must not take effect
  `CREATE TABLE rockpool_parked (
    sequence INTEGER PRIMARY KEY NOT NULL,
    code TEXT NOT NULL,
    fields_json TEXT NOT NULL,
    parked_ms INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0
  )`,

  // Cell bases: the server's values under pending local writes.
  // - `key`: the encoded key of the row
  // - `column_id`: 0 for whether the row exists (1 or 0)
  // - `base`: the watermark that the author of the covering write had seen of this cell
  `CREATE TABLE rockpool_base (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,
    column_id INTEGER NOT NULL,
    value,
    base INTEGER NOT NULL,
    PRIMARY KEY (table_id, key, column_id)
  ) WITHOUT ROWID`,

  DOCUMENT_DDL,
  ...DOCUMENT_BASE_DDL,

  REQUEST_DDL,
];

export function internalDdl(): string[] {
  return [...INTERNAL_DDL, ...SYSTEM_TABLES.flatMap(tableToDdl)];
}
