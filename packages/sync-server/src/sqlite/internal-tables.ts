const DOCUMENT_TABLES_SQL: string = `
CREATE TABLE rockpool_document (         -- one line per document of a row that is there; the app's column has its JSON
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  state BLOB NOT NULL,                   -- shared/document/document-cell.ts
  edits_above INTEGER NOT NULL,          -- every edit above this watermark stands in rockpool_document_edit
  compact_above INTEGER NOT NULL,        -- the size of the state, in bytes, from which on it is replaced by one without a history
  PRIMARY KEY (table_id, key, column_id)
) WITHOUT ROWID;

CREATE TABLE rockpool_document_replaced ( -- the document that the present one took the place of, with the late edits that it still gets
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
CREATE TABLE rockpool_document_author (  -- whose operations are in a document, of the edits that are not kept any more. Goes with the document, or with the tombstone of its row
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  of_replaced INTEGER NOT NULL,          -- 1: of the document in rockpool_document_replaced
  client INTEGER NOT NULL,               -- a Yjs client id (shared/document/document-id.ts)
  watermark INTEGER NOT NULL,            -- of the last of its edits
  PRIMARY KEY (table_id, key, column_id, of_replaced, client)
) WITHOUT ROWID;
`;

/** The layout of the tables below, in rockpool_meta. A change of layout raises it and brings its migration. */
export const STORAGE_FORMAT = 8;

/** What brings a file of an older format to the next one, by the format it has. */
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
};

/** The number of the server's own site in rockpool_site: the author of the conflict log. */
export const SERVER_SITE_NUMBER = 0;
export const SERVER_SITE: string = '0'.repeat(32);

/**
 * What the server keeps beside the app's tables, in the same file and the same transactions.
 * Names with the prefix rockpool_ are reserved (shared/schema/validate.ts), so they never meet the app's.
 */
export const INTERNAL_TABLES_SQL: string = `
CREATE TABLE rockpool_meta (
  name TEXT PRIMARY KEY,     -- a MetaName of meta.ts
  value BLOB NOT NULL         -- of any type
) WITHOUT ROWID;

CREATE TABLE rockpool_site (
  number INTEGER PRIMARY KEY,            -- stands for the site in packed versions; 0 is the server itself
  site BLOB NOT NULL UNIQUE,             -- 16 bytes
  principal TEXT NOT NULL,               -- who pushed last as this site
  last_sequence INTEGER NOT NULL,        -- its last decided changeset, admitted or rejected
  last_hash BLOB NOT NULL,               -- the hash of that changeset
  last_stamp_us INTEGER NOT NULL,        -- its highest corrected stamp
  confirmed_cursor INTEGER NOT NULL,     -- what the site has durably applied
  confirmed_sequence INTEGER NOT NULL,   -- outcomes up to here are durable at the site and forgotten here
  confirmed_watermark INTEGER NOT NULL   -- of its last admitted changeset up to confirmed_sequence
);

CREATE TABLE rockpool_outcome (          -- what became of a changeset; once its site has confirmed it, only that it was decided (log/outcomes.ts)
  site_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  hash BLOB NOT NULL,                    -- of the changeset: another one under this number is a copied site's
  watermark INTEGER,                     -- admitted: its place in the log
  loss_count INTEGER,                    -- admitted: how many of its writes lost
  error_code TEXT,                       -- rejected: why
  error_fields TEXT,                     -- rejected: JSON
  corrected BLOB,                        -- cells that came out otherwise than sent (log/corrected-codec.ts); NULL: none
  decided_ms INTEGER NOT NULL DEFAULT 0, -- by the server's clock, ms since 1970
  PRIMARY KEY (site_number, sequence)
) WITHOUT ROWID;

CREATE TABLE rockpool_log (              -- one line per admitted changeset
  watermark INTEGER PRIMARY KEY,         -- 1, 2, 3 … without gaps
  site_number INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  stamp_us INTEGER NOT NULL,             -- corrected
  max_stamp_us INTEGER NOT NULL,         -- highest stamp up to here: no later write may claim to be older
  principal TEXT NOT NULL,               -- who wrote it, for the conflict log
  received_ms INTEGER NOT NULL DEFAULT 0, -- when it came, by the server's clock, ms since 1970
  link BLOB NOT NULL DEFAULT x'00000000000000000000000000000000' -- 16 bytes of a hash over the link before it, this changeset and how it was merged (log/log.ts)
);

CREATE TABLE rockpool_row_version (      -- one line per row of a synced table, and per tombstone that is kept (log/tombstones.ts)
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,                     -- shared/change/primary-key.ts
  watermark INTEGER NOT NULL,            -- the highest of all versions in the row
  versions BLOB NOT NULL,                -- of its existence and of each cell (row-version-codec.ts)
  image BLOB,                            -- a deleted row's cells; NULL while the row is there
  waits_for BLOB,                        -- of a row that went with its parent: the parent that it refers to (merge/foreign-keys.ts)
  PRIMARY KEY (table_id, key)
) WITHOUT ROWID;

CREATE INDEX rockpool_row_version_by_watermark ON rockpool_row_version (watermark);
CREATE INDEX rockpool_tombstone ON rockpool_row_version (watermark) WHERE image IS NOT NULL;
CREATE INDEX rockpool_orphan ON rockpool_row_version (waits_for) WHERE waits_for IS NOT NULL;
${DOCUMENT_TABLES_SQL}${DOCUMENT_AUTHOR_SQL}`;
