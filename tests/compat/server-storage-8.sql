CREATE TABLE rockpool_meta (
  name TEXT PRIMARY KEY,                 -- a MetaName of meta.ts
  value BLOB NOT NULL                    -- a value of any type
) WITHOUT ROWID;
INSERT INTO "rockpool_meta" (name, value) VALUES ('epoch', x'ad78b1f00310e68a97d594cfa14ab954');
INSERT INTO "rockpool_meta" (name, value) VALUES ('identity', x'fa9feaae71e28e3f6459185a9f8dffdf');
INSERT INTO "rockpool_meta" (name, value) VALUES ('identity_of', 'household');
INSERT INTO "rockpool_meta" (name, value) VALUES ('schema', '{
  "rockpoolSchema": 1,
  "hash": "7912852b035739503703f164f89d2934",
  "tables": [
    {
      "id": 2047216985,
      "name": "accounts",
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
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 503793334,
          "name": "rank",
          "type": "integer",
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
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true,
      "searchIndexes": [
        {
          "name": "accounts_search",
          "columns": [
            "name"
          ],
          "tokenize": "unicode61 remove_diacritics 2"
        }
      ]
    },
    {
      "id": 615112064,
      "name": "cards",
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
          "id": 935288220,
          "name": "account_name",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1968022867,
          "name": "digits",
          "type": "text",
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
          "digits"
        ]
      ],
      "foreignKeys": [
        {
          "columns": [
            "account_name"
          ],
          "foreignTable": "accounts",
          "foreignColumns": [
            "name"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 2106808906,
      "name": "comments",
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
          "id": 2147967061,
          "name": "note_id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1107351177,
          "name": "body",
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
            "note_id"
          ],
          "foreignTable": "notes",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 1466689063,
      "name": "entries",
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
          "id": 334299843,
          "name": "amount",
          "type": "integer",
          "notNull": true,
          "defaultSql": "0",
          "generated": null
        },
        {
          "id": 1457197354,
          "name": "note",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1883488685,
          "name": "weight",
          "type": "real",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 2352109159,
          "name": "receipt",
          "type": "blob",
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
          "foreignTable": "accounts",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [
        {
          "name": "amount_bounded",
          "sql": "amount < 1000000"
        }
      ],
      "indexes": [
        {
          "name": "entries_by_note",
          "unique": false,
          "expressions": [
            "note"
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
      "id": 1703492298,
      "name": "labels",
      "columns": [
        {
          "id": 3716093196,
          "name": "entry_id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 2739692169,
          "name": "position",
          "type": "integer",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        }
      ],
      "primaryKey": [
        "entry_id",
        "position"
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
      "synced": true
    },
    {
      "id": 328151273,
      "name": "limits",
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
          "foreignTable": "accounts",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "no action",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 781480212,
      "name": "notes",
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
          "id": 3487052194,
          "name": "title",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 669608161,
          "name": "reads",
          "type": "integer",
          "notNull": true,
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
        "deleteRule": "update-wins",
        "counters": [
          "reads"
        ],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 3140252899,
      "name": "pages",
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
          "id": 3487052194,
          "name": "title",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 795632427,
          "name": "content",
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
        "documents": [
          {
            "text": [
              "body"
            ],
            "elementKey": "id",
            "maxLength": 1048576,
            "maxDepth": 32,
            "column": "content",
            "richText": [
              "note"
            ]
          }
        ]
      },
      "synced": true
    },
    {
      "id": 2703819650,
      "name": "products",
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
          "id": 3111289823,
          "name": "stock",
          "type": "integer",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 3329517863,
          "name": "price",
          "type": "integer",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 1494516117,
          "name": "currency",
          "type": "text",
          "notNull": false,
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
        "counters": [
          "stock"
        ],
        "groups": [
          [
            "price",
            "currency"
          ]
        ],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 1910205118,
      "name": "splits",
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
          "id": 3716093196,
          "name": "entry_id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 3659805120,
          "name": "share",
          "type": "integer",
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
            "entry_id"
          ],
          "foreignTable": "entries",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 443423505,
      "name": "stickers",
      "columns": [
        {
          "id": 3639902227,
          "name": "account_id",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 4191927778,
          "name": "tag",
          "type": "text",
          "notNull": true,
          "defaultSql": null,
          "generated": null
        }
      ],
      "primaryKey": [
        "account_id",
        "tag"
      ],
      "uniques": [],
      "foreignKeys": [
        {
          "columns": [
            "account_id"
          ],
          "foreignTable": "accounts",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
      "merge": {
        "deleteRule": "delete-wins",
        "counters": [],
        "groups": [],
        "documents": []
      },
      "synced": true
    },
    {
      "id": 3124312006,
      "name": "transfers",
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
          "id": 1389382343,
          "name": "from_id",
          "type": "text",
          "notNull": false,
          "defaultSql": null,
          "generated": null
        },
        {
          "id": 866366450,
          "name": "to_id",
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
            "from_id"
          ],
          "foreignTable": "accounts",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        },
        {
          "columns": [
            "to_id"
          ],
          "foreignTable": "accounts",
          "foreignColumns": [
            "id"
          ],
          "onDelete": "cascade",
          "onUpdate": "no action"
        }
      ],
      "checks": [],
      "indexes": [],
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
INSERT INTO "rockpool_meta" (name, value) VALUES ('storage_format', '8');
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
INSERT INTO "rockpool_site" (number, site, principal, last_sequence, last_hash, last_stamp_us, confirmed_cursor, confirmed_sequence, confirmed_watermark) VALUES (0, x'00000000000000000000000000000000', '', 0, x'', 0, 0, 0, 0);
INSERT INTO "rockpool_site" (number, site, principal, last_sequence, last_hash, last_stamp_us, confirmed_cursor, confirmed_sequence, confirmed_watermark) VALUES (1, x'372b18533c86e01591feeb54def0b2b6', 'ann', 3, x'd4366f2214da8b411a408058a8c1fd38', 1795425643220000, 0, 0, 0);
INSERT INTO "rockpool_site" (number, site, principal, last_sequence, last_hash, last_stamp_us, confirmed_cursor, confirmed_sequence, confirmed_watermark) VALUES (2, x'7801db521e308968e3ab87ee74ec57bf', 'ann', 1, x'2af47fc04158f0cef68d180aacd8c0e0', 1795425643230000, 0, 0, 0);
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
INSERT INTO "rockpool_outcome" (site_number, sequence, hash, watermark, loss_count, error_code, error_fields, corrected, decided_ms) VALUES (1, 1, x'4f47ac23445ea960ee897ec26b0829ad', 1, 0, NULL, NULL, NULL, 1795425643213);
INSERT INTO "rockpool_outcome" (site_number, sequence, hash, watermark, loss_count, error_code, error_fields, corrected, decided_ms) VALUES (1, 2, x'e2f34dc196aa33cc64172032afba429a', 2, 0, NULL, NULL, NULL, 1795425643220);
INSERT INTO "rockpool_outcome" (site_number, sequence, hash, watermark, loss_count, error_code, error_fields, corrected, decided_ms) VALUES (1, 3, x'd4366f2214da8b411a408058a8c1fd38', NULL, NULL, 'constraint-not-null', '{"table":"accounts","columns":"name"}', NULL, 1795425643229);
INSERT INTO "rockpool_outcome" (site_number, sequence, hash, watermark, loss_count, error_code, error_fields, corrected, decided_ms) VALUES (2, 1, x'2af47fc04158f0cef68d180aacd8c0e0', 3, 0, NULL, NULL, NULL, 1795425643230);
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
INSERT INTO "rockpool_log" (watermark, site_number, sequence, stamp_us, max_stamp_us, principal, received_ms, link) VALUES (1, 1, 1, 1795425643213000, 1795425643213000, 'ann', 1795425643213, x'e24d8d17a44ea7ca64ab446d41724759');
INSERT INTO "rockpool_log" (watermark, site_number, sequence, stamp_us, max_stamp_us, principal, received_ms, link) VALUES (2, 1, 2, 1795425643220000, 1795425643220000, 'ann', 1795425643220, x'e686a0abeb137fe6bfd99b93a6769624');
INSERT INTO "rockpool_log" (watermark, site_number, sequence, stamp_us, max_stamp_us, principal, received_ms, link) VALUES (3, 2, 1, 1795425643230000, 1795425643230000, 'ann', 1795425643230, x'382ed28c1922fafe08e6eaecf42de3a8');
CREATE TABLE rockpool_row_version (      -- one row per row of a synced table, and per tombstone that is kept (log/tombstones.ts)
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,                     -- shared/change/primary-key.ts
  watermark INTEGER NOT NULL,            -- highest watermark of the row's versions
  versions BLOB NOT NULL,                -- versions of the row and of each cell (store/row-version-codec.ts)
  image BLOB,                            -- cells of a deleted row; NULL while the row exists
  waits_for BLOB,                        -- for a row that was deleted by a cascade: the parent that it refers to (merge/foreign-keys.ts)
  PRIMARY KEY (table_id, key)
) WITHOUT ROWID;
INSERT INTO "rockpool_row_version" (table_id, key, watermark, versions, image, waits_for) VALUES (2703819650, x'030170', 3, x'010301c8e1bcdde19d98030102a098bddde19d98030103b0e6bddde19d980302000002df8372b9013f86397002', NULL, NULL);
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
CREATE TABLE rockpool_document_author (  -- Yjs clients of the pruned edits of a document. Deleted with the document, or with the tombstone of its row
  table_id INTEGER NOT NULL,
  key BLOB NOT NULL,
  column_id INTEGER NOT NULL,
  of_replaced INTEGER NOT NULL,          -- 1: belongs to the document in rockpool_document_replaced
  client INTEGER NOT NULL,               -- a Yjs client id (shared/document/document-id.ts)
  watermark INTEGER NOT NULL,            -- watermark of the client's last edit
  PRIMARY KEY (table_id, key, column_id, of_replaced, client)
) WITHOUT ROWID;
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
CREATE TABLE "accounts" (
  "id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "rank" INTEGER,
  PRIMARY KEY ("id"),
  UNIQUE ("name")
);
CREATE TABLE "cards" (
  "id" TEXT NOT NULL,
  "account_name" TEXT,
  "digits" TEXT,
  PRIMARY KEY ("id"),
  UNIQUE ("digits"),
  FOREIGN KEY ("account_name") REFERENCES "accounts" ("name") ON UPDATE NO ACTION ON DELETE CASCADE
);
CREATE TABLE "comments" (
  "id" TEXT NOT NULL,
  "note_id" TEXT NOT NULL,
  "body" TEXT,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("note_id") REFERENCES "notes" ("id") ON UPDATE NO ACTION ON DELETE CASCADE
);
CREATE TABLE "entries" (
  "id" TEXT NOT NULL,
  "account_id" TEXT,
  "amount" INTEGER NOT NULL DEFAULT (0),
  "note" TEXT,
  "weight" REAL,
  "receipt" BLOB,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE CASCADE,
  CONSTRAINT "amount_bounded" CHECK (amount < 1000000)
);
CREATE TABLE "labels" (
  "entry_id" TEXT NOT NULL,
  "position" INTEGER NOT NULL,
  PRIMARY KEY ("entry_id", "position")
);
CREATE TABLE "limits" (
  "id" TEXT NOT NULL,
  "account_id" TEXT,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION
);
CREATE TABLE "notes" (
  "id" TEXT NOT NULL,
  "title" TEXT,
  "reads" INTEGER NOT NULL,
  PRIMARY KEY ("id")
);
CREATE TABLE "pages" (
  "id" TEXT NOT NULL,
  "title" TEXT,
  "content" TEXT,
  PRIMARY KEY ("id")
);
CREATE TABLE "products" (
  "id" TEXT NOT NULL,
  "stock" INTEGER NOT NULL,
  "price" INTEGER,
  "currency" TEXT,
  "name" TEXT,
  PRIMARY KEY ("id")
);
INSERT INTO "products" (id, stock, price, currency, name) VALUES ('p', 7, NULL, NULL, 'green tea');
CREATE TABLE "splits" (
  "id" TEXT NOT NULL,
  "entry_id" TEXT NOT NULL,
  "share" INTEGER,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("entry_id") REFERENCES "entries" ("id") ON UPDATE NO ACTION ON DELETE CASCADE
);
CREATE TABLE "stickers" (
  "account_id" TEXT NOT NULL,
  "tag" TEXT NOT NULL,
  PRIMARY KEY ("account_id", "tag"),
  FOREIGN KEY ("account_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE CASCADE
);
CREATE TABLE "transfers" (
  "id" TEXT NOT NULL,
  "from_id" TEXT,
  "to_id" TEXT,
  PRIMARY KEY ("id"),
  FOREIGN KEY ("from_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE CASCADE,
  FOREIGN KEY ("to_id") REFERENCES "accounts" ("id") ON UPDATE NO ACTION ON DELETE CASCADE
);
CREATE INDEX rockpool_row_version_by_watermark ON rockpool_row_version (watermark);
CREATE INDEX rockpool_tombstone ON rockpool_row_version (watermark) WHERE image IS NOT NULL;
CREATE INDEX rockpool_orphan ON rockpool_row_version (waits_for) WHERE waits_for IS NOT NULL;
CREATE INDEX "rockpool_conflict_row" ON "rockpool_conflict" ("table_name", "row_key");
CREATE INDEX "rockpool_foreign_key_24a9dd80_0" ON "cards" ("account_name");
CREATE INDEX "rockpool_foreign_key_7d935a4a_0" ON "comments" ("note_id");
CREATE INDEX "entries_by_note" ON "entries" (note);
CREATE INDEX "rockpool_foreign_key_576be627_0" ON "entries" ("account_id");
CREATE INDEX "rockpool_foreign_key_138f30e9_0" ON "limits" ("account_id");
CREATE INDEX "rockpool_foreign_key_71db6abe_0" ON "splits" ("entry_id");
CREATE INDEX "rockpool_foreign_key_ba3937c6_0" ON "transfers" ("from_id");
CREATE INDEX "rockpool_foreign_key_ba3937c6_1" ON "transfers" ("to_id");
