import { describe, expect, it } from 'vitest';
import { addAccount } from '../../accounts/actions.ts';
import { importProfileOfAccount, type ImportProfileRow } from '../../queries/import.ts';
import { memoryWriter } from '../../../testing/memory-writer.ts';
import type { FormatChoice } from '../chosen-file.ts';
import { readTable, type Table } from '../file/table.ts';
import { forgetProfile, saveProfile } from './actions.ts';
import { formatsOfProfile, profileOf, readProfile, type ImportProfile } from './profile.ts';

function tableOf(text: string): Table {
  const table = readTable(text);
  if (!table.ok) throw new Error(table.problem.code);
  return table.value;
}

const table = tableOf('When;Who;How much;What for\n04/05/2025;Coffee;3,50;two\n');
// Settings that detection could not guess: month first, and spending without a minus.
const formats: FormatChoice = {
  columns: {
    date: 0,
    payee: 1,
    amount: 2,
    debit: null,
    credit: null,
    direction: null,
    notes: 3,
    currency: null,
    bankId: null,
    category: null,
  },
  dateOrder: 'month-day-year',
  dateOrderOpen: false,
  decimalMark: 'comma',
  decimalMarkOpen: false,
  turnSigns: true,
};
const profile = profileOf(table, formats) as ImportProfile;

describe('the profile of an account', () => {
  it('reads the next statement with the settings of the last one, even if the bank has moved its columns', () => {
    expect(formatsOfProfile(profile, table)).toEqual(formats);
    const moved = tableOf('When;Balance;What for;How much;Who\n04/06/2025;1,00;two;3,50;Coffee\n');
    expect(formatsOfProfile(profile, moved)?.columns).toMatchObject({ date: 0, payee: 4, amount: 3, notes: 2 });
  });

  it('distinguishes two columns with the same name', () => {
    const twice = tableOf('When;Who;Betrag;Betrag;Betrag\n04/05/2025;Coffee;3,50;3,90;4,10\n');
    expect(twice.header.slice(2)).toEqual(['Betrag', 'Betrag (2)', 'Betrag (3)']);
    const booked = { ...formats, columns: { ...formats.columns, amount: 3, notes: null } };
    expect(formatsOfProfile(profileOf(twice, booked) as ImportProfile, twice)?.columns.amount).toBe(3);
  });

  it('does not apply to a different kind of file', () => {
    expect(formatsOfProfile(profile, tableOf('When;Who;Betrag\n04/05/2025;Coffee;3,50\n'))).toBeUndefined();
    expect(
      formatsOfProfile(profile, tableOf('When,Who,How much,What for\n04/05/2025,Coffee,3.50,two\n')),
    ).toBeUndefined();
  });

  it('is stored with the budget, one per account, and can be deleted', async () => {
    const writer = memoryWriter();
    const accountId = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
    const stored = (): ImportProfileRow | undefined =>
      writer.rows<ImportProfileRow>(importProfileOfAccount, [accountId])[0];
    await saveProfile(writer, accountId, {
      columnNames: { date: 'Day' },
      delimiter: ',',
      dateOrder: 'year-month-day',
      decimalMark: 'point',
      turnSigns: false,
    });
    await saveProfile(writer, accountId, profile);
    expect(readProfile(stored() as ImportProfileRow)).toEqual(profile);
    await forgetProfile(writer, accountId);
    expect(stored()).toBeUndefined();
  });

  it('is ignored if a newer version wrote it', () => {
    const row = {
      columns: '{"date":"When"}',
      delimiter: ';',
      dateOrder: 'day-month-year',
      decimalMark: 'comma',
      turnSigns: 0,
    } as const;
    for (const other of [
      { columns: '{' },
      { columns: '[1]' },
      { delimiter: '|' },
      { dateOrder: 'era' },
      { decimalMark: 'none' },
    ])
      expect(readProfile({ ...row, ...other })).toBeUndefined();
    expect(readProfile(row)).toBeDefined();
  });
});
