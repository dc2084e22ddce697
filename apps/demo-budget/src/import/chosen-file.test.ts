import { describe, expect, it } from 'vitest';
import { divideBy, formatsOfColumns, guessFormats, readChosenFile } from './chosen-file.ts';
import { maxFileBytes } from './file/decode.ts';

describe('a chosen file', () => {
  it('is read and understood, and can be divided anew', async () => {
    const file = await readChosenFile('a.csv', new Blob(['Date;Payee;Amount\n04/05/2025;Rent;-1.234\n']));
    if (!file.ok) throw new Error(file.problem.code);
    expect(guessFormats(file.value.table)).toEqual({
      columns: { date: 0, payee: 1, amount: 2, debit: null, credit: null, notes: null, currency: null },
      dateOrder: 'day-month-year',
      dateOrderOpen: true,
      decimalMark: 'point',
      decimalMarkOpen: true,
      turnSigns: false,
    });
    expect(divideBy(file.value, ',')).toMatchObject({ ok: false, problem: { code: 'file-wrong-delimiter' } });
    expect(divideBy(file.value, ';')).toMatchObject({ ok: true, value: { fileName: 'a.csv', encoding: 'utf-8' } });
  });

  it('has its formats looked at anew when other columns are chosen', async () => {
    const file = await readChosenFile('a.csv', new Blob(['Booked,Valued,Payee,Amount\n2025-05-04,13/05/2025,Rent,-1.5\n']));
    if (!file.ok) throw new Error(file.problem.code);
    const { columns } = guessFormats(file.value.table);
    expect(formatsOfColumns(file.value.table, { ...columns, date: 1 })).toMatchObject({ dateOrder: 'day-month-year', dateOrderOpen: false });
  });

  it('is not even opened when it is too large', async () => {
    const huge = { size: maxFileBytes + 1, arrayBuffer: () => Promise.reject(new Error('it was read')) } as unknown as Blob;
    await expect(readChosenFile('a.csv', huge)).resolves.toMatchObject({ ok: false, problem: { code: 'file-too-large' } });
  });
});
