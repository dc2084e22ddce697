import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { addEntry } from '../entries/actions.ts';
import { readChosenFile } from '../import/chosen-file.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { exportCsv, type ExportProgress, type Reader } from './export-csv.ts';
import { exportedTables } from './exported-tables.ts';
import { exportJson } from './export-json.ts';

let writer: MemoryWriter;

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  const giro = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 1_000 });
  const yen = await addAccount(writer, { name: 'Yen', kind: 'cash', currency: 'JPY', openingMinor: 0 });
  await addEntry(writer, giro, {
    date: '2025-01-02',
    payee: 'Café "Two", Ltd',
    notes: 'two\nlines',
    categoryId: 'starter-eating-out',
    amountMinor: -350,
  });
  await addEntry(writer, yen, { date: '2025-01-01', payee: 'Kiosk', notes: '', categoryId: null, amountMinor: -1_200 });
  const split = await addEntry(writer, giro, {
    date: '2025-01-03',
    payee: 'Store',
    notes: '',
    categoryId: null,
    amountMinor: -1_000,
  });
  await writer.execute(
    "INSERT INTO parts (id, entryId, categoryId, amountMinor, notes) VALUES (?, ?, 'starter-home', -700, 'lamp')",
    [`${split}/1`, split],
  );
});

describe('entries as CSV', () => {
  it('has one line per entry or part, with an exact line for any remainder of a split', async () => {
    const seen: ExportProgress[] = [];
    const blob = await exportCsv(writer, (progress) => seen.push(progress));
    expect(new Uint8Array(await blob.arrayBuffer()).slice(0, 3)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf));
    const lines = (await blob.text()).split('\r\n');
    expect(lines.map((line) => line.replace(/,[^,]*$/, ''))).toEqual([
      'Date,Account,Payee,Memo,Category,Amount,Currency,Status',
      '2025-01-01,Yen,Kiosk,,,-1200,JPY,open',
      '2025-01-02,Giro,"Café ""Two"", Ltd","two\nlines",Eating out,-3.50,EUR,open',
      '2025-01-03,Giro,Store,,,-3.00,EUR,open',
      '2025-01-03,Giro,Store,lamp,Home,-7.00,EUR,open',
      '',
    ]);
    expect(seen.at(-1)).toEqual({ writtenCount: 4, totalCount: 4 });
  });

  it('can have the entries of one account', async () => {
    const [yen] = writer.rows<{ id: string }>("SELECT id FROM accounts WHERE name = 'Yen'");
    const seen: ExportProgress[] = [];
    const lines = (await (await exportCsv(writer, (progress) => seen.push(progress), yen?.id)).text()).split('\r\n');
    expect(lines.slice(1).map((line) => line.replace(/,[^,]*$/, ''))).toEqual([
      '2025-01-01,Yen,Kiosk,,,-1200,JPY,open',
      '',
    ]);
    expect(seen).toEqual([{ writtenCount: 1, totalCount: 1 }]);
  });

  it('can be imported again', async () => {
    const file = await readChosenFile('budget.csv', await exportCsv(writer, () => undefined));
    expect(file).toMatchObject({
      ok: true,
      value: { format: 'csv', table: { delimiter: ',', hasHeader: true, rows: { length: 4 } } },
    });
  });
});

describe('the JSON export', () => {
  it('has every table with every row, unchanged', async () => {
    const seen: ExportProgress[] = [];
    const { tables, ...head } = JSON.parse(
      await (await exportJson(writer, 17, (progress) => seen.push(progress))).text(),
    ) as { tables: Record<string, unknown[]> };
    expect(head).toEqual({ format: 'rockpool-budget-1', exportedAtMs: 17 });
    expect(Object.keys(tables).sort()).toEqual(exportedTables.map(({ name }) => name).sort());
    for (const [name, rows] of Object.entries(tables))
      expect(rows, name).toEqual(writer.rows(`SELECT * FROM "${name}" ORDER BY id`));
    expect(seen.at(-1)).toEqual({ writtenCount: 16, totalCount: 16 });
  });

  it('has no entry without its account, even if both are added during the export', async () => {
    let isFirst = true;
    const additions: Promise<string>[] = [];
    const blob = await exportJson(writer, 0, () => {
      if (!isFirst) return;
      isFirst = false;
      const added = addAccount(writer, { name: 'New', kind: 'cash', currency: 'EUR', openingMinor: 0 });
      const entry = { date: '2025-01-04', payee: 'Zoo', notes: '', categoryId: null, amountMinor: -1 };
      additions.push(added.then((account) => addEntry(writer, account, entry)));
    });
    await Promise.all(additions);
    const { tables } = JSON.parse(await blob.text()) as { tables: Record<string, { id: string; accountId: string }[]> };
    const known = new Set(tables['accounts']?.map(({ id }) => id));
    expect(tables['entries']?.filter(({ accountId }) => !known.has(accountId))).toEqual([]);
  });

  it('writes integers beyond the safe range of JavaScript as text', async () => {
    await writer.execute("UPDATE accounts SET openingMinor = 1152921504606846977 WHERE name = 'Giro'");
    const { tables } = JSON.parse(await (await exportJson(writer, 0, () => undefined)).text()) as {
      tables: { accounts: { name: string; openingMinor: unknown }[] };
    };
    expect(tables.accounts.find(({ name }) => name === 'Giro')?.openingMinor).toBe('1152921504606846977');
  });

  it('is valid JSON for an empty budget', async () => {
    const empty = memoryWriter();
    const blob = await exportJson(
      { query: empty.query, stream: async function* () {} as unknown as Reader['stream'] },
      0,
      () => undefined,
    );
    expect(JSON.parse(await blob.text())).toMatchObject({ tables: { entries: [] } });
  });
});
