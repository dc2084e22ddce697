import { describe, expect, it } from 'vitest';
import { testTable } from '#client/testing/worker/table-schema.ts';
import { writeAsBefore } from '#client/testing/worker/write-as-before.ts';
import { buildSchema, encodeKey } from '#shared/index.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { DirectDevice } from '#kit/direct-device.ts';

/*
 * Servers with file storage once accepted values of any type. They keep such values, and devices that were not updated
 * still send them.
 */

const item = testTable(
  'item',
  { id: 'text not null', words: 'text', whole: 'integer', unit: 'text' },
  { merge: { deleteRule: 'delete-wins', counters: [], groups: [['whole', 'unit']], documents: [] } },
);
const tag = testTable('tag', { id: 'blob not null', note: 'text' });
const schema = buildSchema([item, tag]);
const ALL = 'SELECT id, words, whole, unit FROM item UNION ALL SELECT quote(id), typeof(id), note, NULL FROM tag';

async function withRowsFromBefore(body: (live: LiveDatabase, device: DirectDevice) => Promise<void>): Promise<void> {
  const live = new LiveDatabase(openDatabaseFile(':memory:', schema), {
    onFailure: (error) => {
      throw error;
    },
  });
  const { sql } = live.file;
  const first = new DirectDevice(schema, () => 1_700_000_000_000, 1);
  first.writeAll("INSERT INTO item VALUES ('i', 'w', 1, 'kg')", "INSERT INTO tag VALUES (x'01', 'n')");
  await first.settle(live);
  first.close();
  sql.exec("UPDATE item SET whole = 'many'; UPDATE tag SET id = 1");
  sql.run('UPDATE rockpool_row_version SET key = ? WHERE table_id = ?', encodeKey([1n]), BigInt(tag.id));
  const device = new DirectDevice(schema, () => 1_700_000_000_000, 2);
  await device.settle(live);
  try {
    await body(live, device);
  } finally {
    device.close();
    await live.close();
  }
}

const write = ({ database }: DirectDevice, sql: string): unknown =>
  database.write({ id: sql, statements: [{ sql, params: [] }] });

describe('values of a type other than that of their column', () => {
  it('are delivered, changed and deleted, but cannot be written again [VK-10]', () =>
    withRowsFromBefore(async (live, device) => {
      expect(device.rows(ALL)).toEqual([
        ['i', 'w', 'many', 'kg'],
        ['1', 'integer', 'n', null],
      ]);
      write(device, "UPDATE item SET words = 'x'");
      write(device, "UPDATE tag SET note = 'm' WHERE id = 1");
      await device.settle(live);
      expect(live.file.sql.all(ALL)).toEqual([
        ['i', 'x', 'many', 'kg'],
        ['1', 'integer', 'm', null],
      ]);
      for (const sql of [
        "UPDATE item SET whole = 'more'",
        "UPDATE item SET unit = 'g'",
        "INSERT INTO item (id, whole) VALUES ('j', 'many')",
      ]) {
        expect(() => write(device, sql), sql).toThrow(
          expect.objectContaining({
            code: 'constraint-data-type',
            fields: { table: 'item', column: 'whole', columnType: 'integer', valueType: 'text' },
          }) as Error,
        );
      }
      expect(() => write(device, 'UPDATE tag SET id = 2')).toThrow(
        expect.objectContaining({ code: 'key-invalid' }) as Error,
      );
      write(device, "UPDATE item SET whole = 5, unit = 'g'");
      write(device, "INSERT OR REPLACE INTO tag VALUES (x'02', 'new')");
      write(device, 'DELETE FROM tag WHERE id = 1');
      await device.settle(live);
      const expected = [
        ['i', 'x', 5n, 'g'],
        ["X'02'", 'blob', 'new', null],
      ];
      expect(live.file.sql.all(ALL)).toEqual(expected);
      expect(device.database.listRejected()).toEqual([]);
      const other = new DirectDevice(schema, () => 1_700_000_000_000, 3);
      await other.settle(live);
      expect(other.rows(ALL)).toEqual(device.rows(ALL));
      other.close();
    }));

  it('are rejected with a reason if a device wrote them before its update, and change no row [VK-10]', () =>
    withRowsFromBefore(async (live, device) => {
      writeAsBefore(device.database, "UPDATE item SET whole = 'few', unit = 'g'");
      writeAsBefore(device.database, "INSERT INTO tag VALUES ('a text', 'mine'), (2.5, 'mine')");
      writeAsBefore(device.database, "UPDATE item SET words = 'after'");
      await device.settle(live);
      expect(live.file.sql.all(ALL)).toEqual([
        ['i', 'after', 'many', 'kg'],
        ['1', 'integer', 'n', null],
      ]);
      expect(device.rows(ALL)).toEqual([
        ['i', 'after', 'many', 'kg'],
        ['1', 'integer', 'n', null],
      ]);
      expect(
        device.database
          .listRejected()
          .map(({ reason }) => [reason.code, reason.fields['table'], reason.fields['column']]),
      ).toEqual([
        ['constraint-data-type', 'item', 'whole'],
        ['key-invalid', 'tag', 'id'],
      ]);
    }));
});
