const DOCUMENT_TABLES_SQL: string = `
CREATE TABLE rockpool_document (         -- one row per document of an existing row; the app's column has its JSON
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  state BLOB NOT NULL,                   -- shared/document/document-cell.ts
  edits_above INTEGER NOT NULL,          -- every edit above this watermark is in rockpool_document_edit
  compact_above INTEGER NOT NULL,        -- size of the state, in bytes, above which it is replaced by a state without history
  PRIMARY KEY (table_id, key, column_id)
) WITHOUT ROWID;

CREATE TABLE rockpool_document_replaced ( -- the previous document of a cell that was replaced, with late edits to it
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (table_id, key, column_id)
) WITHOUT ROWID;

CREATE TABLE rockpool_document_edit (    -- the last edits of each document
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  watermark INTEGER NOT NULL,
  yjs BLOB NOT NULL,                     -- a Yjs update
  PRIMARY KEY (table_id, key, column_id, watermark)
) WITHOUT ROWID;
`;

const DOCUMENT_AUTHOR_SQL: string = `
CREATE TABLE rockpool_document_author (  -- Yjs clients of the pruned edits of a document. Deleted with the document, or with the tombstone of its row
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  of_replaced INTEGER NOT NULL,          -- 1: belongs to the document in rockpool_document_replaced; 2: no author, but an earlier form of the document (documents/earlier-forms.ts)
  client INTEGER NOT NULL,               -- a Yjs client id (shared/document/document-id.ts); for 2: a document id
  watermark INTEGER NOT NULL,            -- watermark of the client's last edit; for 2: of the compaction
  PRIMARY KEY (table_id, key, column_id, of_replaced, client)
) WITHOUT ROWID;
`;

const ORIGIN_SQL: string = `
CREATE TABLE rockpool_origin (           -- the changesets from which admitted ones were re-created (log/origins.ts)
  site BLOB NOT NULL,                    -- 16 bytes: the site of the first changeset
  sequence INTEGER NOT NULL,             -- its sequence
  hash BLOB NOT NULL,                    -- its hash, because two copies of a site may use one sequence
  decided_ms INTEGER NOT NULL,           -- time of the admission by the server's clock, ms since 1970
  PRIMARY KEY (site, sequence, hash)
) WITHOUT ROWID;

CREATE INDEX rockpool_origin_by_time ON rockpool_origin (decided_ms);
`;

const NULLED_REFERENCE_SQL: string = `
CREATE TABLE rockpool_nulled_reference (  -- the references that are NULL while their parent is deleted (store/nulled-references.ts)
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  nulled_at INTEGER NOT NULL,            -- watermark of the NULL
  value BLOB NOT NULL,                   -- the reference, encoded like a key of one part
  watermark INTEGER NOT NULL,            -- watermark of the reference
  stamp_us INTEGER NOT NULL,             -- corrected stamp of the reference
  site_number INTEGER NOT NULL,          -- author of the reference
  PRIMARY KEY (table_id, key, column_id)
) WITHOUT ROWID;

CREATE INDEX rockpool_nulled_reference_by_value ON rockpool_nulled_reference (table_id, column_id, value);
`;

const HISTORY_SQL: string = `
CREATE TABLE rockpool_history (          -- one row per version of a row, except its first insert; only of tables that declare a history (history/)
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  watermark INTEGER NOT NULL,            -- of the changeset that made the version; rockpool_log has its author and time
  entry BLOB NOT NULL,                   -- the values that the version replaced (history/history-entry.ts)
  PRIMARY KEY (table_id, key, watermark)
) WITHOUT ROWID;

CREATE INDEX rockpool_history_by_watermark ON rockpool_history (table_id, watermark);
`;

/**
 * Version of the layout of the tables below, stored in rockpool_meta. A change of the layout increments it and adds a
 * migration.
 */
export const STORAGE_FORMAT = 11;

/** The statements that migrate a file to the next storage format, by its current format. */
export const MIGRATIONS: Readonly<Record<number, string>> = {
  1: `ALTER TABLE rockpool_outcome ADD COLUMN decided_ms INTEGER NOT NULL DEFAULT 0`,
  2: `ALTER TABLE rockpool_log ADD COLUMN received_ms INTEGER NOT NULL DEFAULT 0;
      UPDATE rockpool_log SET received_ms = max_stamp_us / 1000;
      CREATE INDEX rockpool_tombstone ON rockpool_row_version (watermark) WHERE image IS NOT NULL`,
  3: DOCUMENT_TABLES_SQL,
  4: `ALTER TABLE rockpool_row_version ADD COLUMN waits_for BLOB;
      CREATE INDEX rockpool_orphan ON rockpool_row_version (waits_for) WHERE waits_for IS NOT NULL`,
  5: `ALTER TABLE rockpool_log ADD COLUMN link BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'`,
  6: `ALTER TABLE rockpool_conflict ADD COLUMN path TEXT`,
  7: DOCUMENT_AUTHOR_SQL,
  8: ORIGIN_SQL,
  9: NULLED_REFERENCE_SQL,
  10: HISTORY_SQL,
};

/** The number of the server's own site in rockpool_site. This site is the author of the conflict log. */
export const SERVER_SITE_NUMBER = 0;
export const SERVER_SITE: string = '0'.repeat(32);

/**
 * The server's own tables, in the same file and the same transactions as the app's tables. Names with the prefix
 * rockpool_ are reserved (shared/schema/validate.ts), so they never collide with the app's. SQLite stores the comments
 * of a CREATE TABLE with the table; nothing compares that text.
 */
export const INTERNAL_TABLES_SQL: string = `
CREATE TABLE rockpool_meta (
  name TEXT PRIMARY KEY,                 -- a MetaName of meta.ts
  value BLOB NOT NULL                    -- a value of any type
) WITHOUT ROWID;

CREATE TABLE rockpool_site (
  number INTEGER PRIMARY KEY,            -- identifies the site in packed versions; 0 is the server itself
  site BLOB NOT NULL UNIQUE,             -- 16 bytes
  principal TEXT NOT NULL,               -- principal of the last push by this site
  last_sequence INTEGER NOT NULL,        -- last decided changeset, admitted or rejected
  last_hash BLOB NOT NULL,               -- hash of that changeset
  last_stamp_us INTEGER NOT NULL,        -- highest corrected stamp of the site
  confirmed_cursor INTEGER NOT NULL,     -- cursor that the site has durably applied
  confirmed_sequence INTEGER NOT NULL,   -- outcomes up to here are durable at the site and pruned here
  confirmed_watermark INTEGER NOT NULL   -- watermark of the last admitted changeset up to confirmed_sequence
);

CREATE TABLE rockpool_outcome (          -- the outcome of a changeset; its details are pruned once the site has confirmed it (log/outcomes.ts)
  site_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  hash BLOB NOT NULL,                    -- hash of the changeset: a different changeset under this sequence comes from a copied site
  watermark INTEGER,                     -- if admitted: its watermark
  loss_count INTEGER,                    -- if admitted: the number of its writes that lost
  error_code TEXT,                       -- if rejected: the error code
  error_fields TEXT,                     -- if rejected: the error's fields as JSON
  corrected BLOB,                        -- cells with another value after the merge than sent (log/corrected-codec.ts); NULL: none
  decided_ms INTEGER NOT NULL DEFAULT 0, -- time of the decision by the server's clock, ms since 1970
  PRIMARY KEY (site_number, sequence)
) WITHOUT ROWID;

CREATE TABLE rockpool_log (              -- one row per admitted changeset
  watermark INTEGER PRIMARY KEY,         -- 1, 2, 3 … without gaps
  site_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  stamp_us INTEGER NOT NULL,             -- corrected stamp of the changeset
  max_stamp_us INTEGER NOT NULL,         -- highest stamp up to here; a write by a site that has seen this entry cannot claim a lower one
  principal TEXT NOT NULL,               -- author, for the conflict log
  received_ms INTEGER NOT NULL DEFAULT 0, -- time of receipt by the server's clock, ms since 1970
  link BLOB NOT NULL DEFAULT x'00000000000000000000000000000000' -- the log hash: 16 bytes over the previous log hash, this changeset and how it was merged (log/log.ts)
);

CREATE TABLE rockpool_row_version (      -- one row per row of a synced table, and per tombstone that is kept (log/tombstones.ts)
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,                     -- shared/change/primary-key.ts
  watermark INTEGER NOT NULL,            -- highest watermark of the row's versions
  versions BLOB NOT NULL,                -- versions of the row and of each cell (store/row-version-codec.ts)
  image BLOB,                            -- cells of a deleted row; NULL while the row exists
  waits_for BLOB,                        -- for a row that was deleted by a cascade: the parent that it refers to (merge/foreign-keys.ts)
  PRIMARY KEY (table_id, key)
) WITHOUT ROWID;

CREATE INDEX rockpool_row_version_by_watermark ON rockpool_row_version (watermark);
CREATE INDEX rockpool_tombstone ON rockpool_row_version (watermark) WHERE image IS NOT NULL;
CREATE INDEX rockpool_orphan ON rockpool_row_version (waits_for) WHERE waits_for IS NOT NULL;
${DOCUMENT_TABLES_SQL}${DOCUMENT_AUTHOR_SQL}${ORIGIN_SQL}${NULLED_REFERENCE_SQL}${HISTORY_SQL}`;
