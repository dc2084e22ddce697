import { openStorage, opfsSharedMedium } from '@rockpool/vfs-opfs';
import { Factory } from 'wa-sqlite';
import load from 'wa-sqlite/dist/fts5/wa-sqlite.mjs';

// In a dedicated worker. Other tabs open the same name with role 'reader'.
const storage = await openStorage({ name: 'notes', medium: opfsSharedMedium(), role: 'writer' });
const module = await load();
storage.register(module);
const sqlite = Factory(module);
const db = await sqlite.open_v2(storage.path, undefined, storage.vfsName);
sqlite.exec(db, 'CREATE VIRTUAL TABLE IF NOT EXISTS note USING fts5(body)');
sqlite.exec(db, "INSERT INTO note VALUES ('coffee at nine')");
await storage.committed(); // It is stored: the worker may end now.
sqlite.exec(db, "SELECT rowid, body FROM note WHERE note MATCH 'coffee' ORDER BY 1 DESC", (row) => postMessage(row));
