CREATE TABLE rockpool_meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
INSERT INTO "rockpool_meta" (key, value) VALUES ('clock_contact_json', '{"localUs":1700000000000000,"serverMs":1700000000000}');
INSERT INTO "rockpool_meta" (key, value) VALUES ('cursor', 3);
INSERT INTO "rockpool_meta" (key, value) VALUES ('cursor_link', x'00000000000000000000000000000000');
INSERT INTO "rockpool_meta" (key, value) VALUES ('database_identity', x'07070707070707070707070707070707');
INSERT INTO "rockpool_meta" (key, value) VALUES ('document_generation', 2);
INSERT INTO "rockpool_meta" (key, value) VALUES ('log_epoch', x'01010101010101010101010101010101');
INSERT INTO "rockpool_meta" (key, value) VALUES ('schema_hash', '354feea71c584d7e07c13322c25a1247');
INSERT INTO "rockpool_meta" (key, value) VALUES ('schema_json', '{
  "rockpoolSchema": 1,
  "hash": "354feea71c584d7e07c13322c25a1247",
  "tables": [
    {
      "id": 2883996192,
      "name": "account",
      "columns": [
        {
          "id": 1239532238,
          "name": "id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1882818111,
          "name": "name",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 334299843,
          "name": "amount",
          "type": "integer",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 2464862960,
          "name": "rate",
          "type": "real",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 3457484237,
          "name": "extra",
          "type": "blob",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        }
      ],
      "primaryKey": [
        "id"
      ],
      "uniques": [
        [
          "name"
        ]
      ],
      "foreignKeys": [],
      "checks": [],
      "indexes": [
        {
          "name": "account_rate",
          "unique": false,
          "expressions": [
            "\"rate\""
          ],
          "whereSql": null
        }
      ],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 1918629619,
      "name": "draft",
      "columns": [
        {
          "id": 1239532238,
          "name": "id",
          "type": "integer",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1581673352,
          "name": "text",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        }
      ],
      "primaryKey": [
        "id"
      ],
      "uniques": [],
      "foreignKeys": [],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": false
    },
    {
      "id": 3941292034,
      "name": "entry",
      "columns": [
        {
          "id": 1239532238,
          "name": "id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 3639902227,
          "name": "account_id",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1457197354,
          "name": "note",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        }
      ],
      "primaryKey": [
        "id"
      ],
      "uniques": [],
      "foreignKeys": [
        {
          "columns": [
            "account_id"
          ],
          "foreignTable": "account",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "cascade"
        }
      ],
      "checks": [],
      "indexes": [
        {
          "name": "entry_account",
          "unique": false,
          "expressions": [
            "\"account_id\""
          ],
          "whereSql": null
        }
      ],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true,
      "searchIndexes": [
        {
          "name": "entry_search",
          "columns": [
            "note"
          ],
          "tokenize": "unicode61 remove_diacritics 2"
        }
      ]
    },
    {
      "id": 23930802,
      "name": "priced",
      "columns": [
        {
          "id": 1239532238,
          "name": "id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 2618422291,
          "name": "net",
          "type": "integer",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 3382852335,
          "name": "gross",
          "type": "integer",
          "notNull": false,
          "defaultSql": null,
          "generated": {
            "sql": "net*2",
            "mode": "stored"
          }
        }
      ],
      "primaryKey": [
        "id"
      ],
      "uniques": [],
      "foreignKeys": [],
      "checks": [],
      "indexes": [
        {
          "name": "priced_gross",
          "unique": false,
          "expressions": [
            "\"gross\""
          ],
          "whereSql": null
        }
      ],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    }
  ]
}
');
INSERT INTO "rockpool_meta" (key, value) VALUES ('site_id', x'1f262d343b424950575e656c737a8188');
INSERT INTO "rockpool_meta" (key, value) VALUES ('storage_format', 5);
CREATE TABLE rockpool_changelog (
    sequence INTEGER PRIMARY KEY NOT NULL, -- 1, 2, 3 … without gaps; from below, decided ones are pruned, but the last row always stays.
                                           -- Below 0: rejected ones from before the site id changed, never sent again
    stamp_us INTEGER NOT NULL,             -- local time at commit, rising (shared/clock/local-time.ts)
    base INTEGER NOT NULL,                 -- cursor at commit
    hash BLOB NOT NULL,                    -- over the row before it, the numbers and the body
    body BLOB NOT NULL,                    -- the changeset as it travels
    before BLOB NOT NULL,                  -- the old values, for this device alone
    shift_us INTEGER NOT NULL DEFAULT 0    -- what to add to the stamp to have what the wall clock showed; not 0 once it was set back
  );
INSERT INTO "rockpool_changelog" (sequence, stamp_us, base, hash, body, before, shift_us) VALUES (1, 1700000000000000, 0, x'29bd998fcd100ed9ce1656858f30c43f', x'01000101204ae6ab0101043f863970c302ed13f0d2ea92cd0515ce03016103026e610102000000', x'010100', 0);
INSERT INTO "rockpool_changelog" (sequence, stamp_us, base, hash, body, before, shift_us) VALUES (2, 1700000000000001, 0, x'ace958951ee6b3dfc358daa0aba57cfe', x'01000101204ae6ab0101043f863970c302ed13f0d2ea92cd0515ce03016203026e620102000000', x'010100', -1);
INSERT INTO "rockpool_changelog" (sequence, stamp_us, base, hash, body, before, shift_us) VALUES (3, 1700000000000002, 0, x'3b2db0ee1cd0b4df0e656dbe11207418', x'01000101204ae6ab0101043f863970c302ed13f0d2ea92cd0515ce03016303026e630102000000', x'010100', -2);
INSERT INTO "rockpool_changelog" (sequence, stamp_us, base, hash, body, before, shift_us) VALUES (4, 1700000000000003, 0, x'75b51b8bf37d00f73bcee962b2dacd5b', x'01000101204ae6ab0101043f863970c302ed13f0d2ea92cd0515ce03016403026e640102000000', x'010100', -3);
INSERT INTO "rockpool_changelog" (sequence, stamp_us, base, hash, body, before, shift_us) VALUES (5, 1700000000000004, 0, x'209ef77e2e69cd69d262b7891d561c02', x'01000101204ae6ab0101043f863970c302ed13f0d2ea92cd0515ce03016503026e650102000000', x'010100', -4);
CREATE TABLE rockpool_decided (up_to INTEGER PRIMARY KEY NOT NULL, decided_ms INTEGER NOT NULL);
INSERT INTO "rockpool_decided" (up_to, decided_ms) VALUES (3, 1700000000000);
CREATE TABLE rockpool_parked (
    sequence INTEGER PRIMARY KEY NOT NULL, -- in rockpool_changelog; below 0 and closed, no longer there
    code TEXT NOT NULL,                    -- error code
    fields_json TEXT NOT NULL,             -- its fields
    parked_ms INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0      -- 1: tried again or dropped. Kept for as long as the changeset: it must not take effect after all
  );
INSERT INTO "rockpool_parked" (sequence, code, fields_json, parked_ms, closed) VALUES (3, 'constraint-check', '{"table":"account"}', 1700000000000, 0);
CREATE TABLE rockpool_base (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,                     -- encoded key of the row
    column_id INTEGER NOT NULL,            -- 0: whether the row exists (1 or 0)
    value,
    base INTEGER NOT NULL,                 -- the watermark that the author of the covering write had seen of this cell
    PRIMARY KEY (table_id, key, column_id)
  ) WITHOUT ROWID;
CREATE TABLE rockpool_document (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,                     -- encoded key of the row
    column_id INTEGER NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (table_id, key, column_id)
  ) WITHOUT ROWID;
CREATE TABLE rockpool_document_base (
    table_id INTEGER NOT NULL,
    key BLOB NOT NULL,                     -- encoded key of the row
    column_id INTEGER NOT NULL,
    id BLOB NOT NULL,                      -- 16 bytes, a hash of what follows
    yjs BLOB NOT NULL,                     -- a Yjs update: the whole document
    PRIMARY KEY (table_id, key, column_id, id)
  ) WITHOUT ROWID;
CREATE TABLE rockpool_request (
    id TEXT PRIMARY KEY NOT NULL,
    done_ms INTEGER NOT NULL,
    outcome_json TEXT NOT NULL
  ) WITHOUT ROWID;
INSERT INTO "rockpool_request" (id, done_ms, outcome_json) VALUES ('r1', 1700000000000, '{"results":[{"changes":1}],"touchedTables":["account"],"sequence":1}');
INSERT INTO "rockpool_request" (id, done_ms, outcome_json) VALUES ('r2', 1700000000000, '{"results":[{"changes":1}],"touchedTables":["account"],"sequence":2}');
INSERT INTO "rockpool_request" (id, done_ms, outcome_json) VALUES ('r3', 1700000000000, '{"results":[{"changes":1}],"touchedTables":["account"],"sequence":3}');
INSERT INTO "rockpool_request" (id, done_ms, outcome_json) VALUES ('r4', 1700000000000, '{"results":[{"changes":1}],"touchedTables":["account"],"sequence":4}');
INSERT INTO "rockpool_request" (id, done_ms, outcome_json) VALUES ('r5', 1700000000000, '{"results":[{"changes":1}],"touchedTables":["account"],"sequence":5}');
CREATE TABLE "rockpool_conflict" (
  "id" TEXT NOT NULL,
  "table_name" TEXT NOT NULL,
  "row_key" TEXT NOT NULL,
  "column_name" TEXT,
  "rule" TEXT NOT NULL,
  "lost_value" BLOB,
  "won_value" BLOB,
  "lost_by" TEXT NOT NULL,
  "won_by" TEXT NOT NULL,
  "lost_site" TEXT NOT NULL,
  "won_site" TEXT NOT NULL,
  "lost_at_ms" INTEGER NOT NULL,
  "won_at_ms" INTEGER NOT NULL,
  "watermark" INTEGER NOT NULL,
  "path" TEXT,
  PRIMARY KEY ("id")
);
CREATE TABLE "account" (
  "id" TEXT NOT NULL,
  "name" TEXT,
  "amount" INTEGER,
  "rate" REAL,
  "extra" BLOB,
  PRIMARY KEY ("id"),
  UNIQUE ("name")
);
INSERT INTO "account" (id, name, amount, rate, extra) VALUES ('a', 'na', 1, NULL, NULL);
INSERT INTO "account" (id, name, amount, rate, extra) VALUES ('b', 'nb', 1, NULL, NULL);
INSERT INTO "account" (id, name, amount, rate, extra) VALUES ('d', 'nd', 1, NULL, NULL);
INSERT INTO "account" (id, name, amount, rate, extra) VALUES ('e', 'ne', 1, NULL, NULL);
INSERT INTO "account" (id, name, amount, rate, extra) VALUES ('z', 'theirs', 5, 0.5, x'0102');
CREATE TABLE "draft" (
  "id" INTEGER,
  "text" TEXT,
  PRIMARY KEY ("id")
);
CREATE TABLE "entry" (
  "id" TEXT NOT NULL,
  "account_id" TEXT,
  "note" TEXT,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("account_id") REFERENCES "account" ("id") ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE "priced" (
  "id" TEXT NOT NULL,
  "net" INTEGER,
  "gross" INTEGER GENERATED ALWAYS AS (net*2) STORED,
  PRIMARY KEY ("id")
);
CREATE VIRTUAL TABLE "entry_search" USING fts5("note", content='entry', tokenize='unicode61 remove_diacritics 2');
CREATE INDEX rockpool_document_base_by_id ON rockpool_document_base (id);
CREATE INDEX "rockpool_conflict_row" ON "rockpool_conflict" ("table_name", "row_key");
CREATE INDEX "account_rate" ON "account" ("rate");
CREATE INDEX "entry_account" ON "entry" ("account_id");
CREATE INDEX "priced_gross" ON "priced" ("gross");
