import { describe, expect, it } from 'vitest';
import { divideBy, formatsOfColumns, guessFormats, readChosenFile } from './chosen-file.ts';
import { maxFileBytes } from './file/decode.ts';
import { statementColumns } from './statement.ts';

describe('a chosen file', () => {
  it('is read and recognised, and can be split with another delimiter', async () => {
    const file = await readChosenFile('a.csv', new Blob(['Date;Payee;Amount\n04/05/2025;Rent;-1.234\n']));
    if (!file.ok) throw new Error(file.problem.code);
    expect(guessFormats(file.value)).toEqual({
      columns: {
        date: 0,
        payee: 1,
        amount: 2,
        debit: null,
        credit: null,
        direction: null,
        notes: null,
        currency: null,
        bankId: null,
        category: null,
      },
      dateOrder: 'day-month-year',
      dateOrderOpen: true,
      decimalMark: 'point',
      decimalMarkOpen: true,
      turnSigns: false,
    });
    expect(divideBy(file.value, ',')).toMatchObject({ ok: false, problem: { code: 'file-wrong-delimiter' } });
    expect(divideBy(file.value, ';')).toMatchObject({ ok: true, value: { fileName: 'a.csv', encoding: 'utf-8' } });
  });

  it('has its formats detected again when other columns are chosen', async () => {
    const file = await readChosenFile(
      'a.csv',
      new Blob(['Booked,Valued,Payee,Amount\n2025-05-04,13/05/2025,Rent,-1.5\n']),
    );
    if (!file.ok) throw new Error(file.problem.code);
    const { columns } = guessFormats(file.value);
    expect(formatsOfColumns(file.value.table, { ...columns, date: 1 })).toMatchObject({
      dateOrder: 'day-month-year',
      dateOrderOpen: false,
    });
  });

  it('is recognised as OFX by content, whatever its name', async () => {
    const text =
      'OFXHEADER:100\nENCODING:USASCII\nCHARSET:1252\n\n<OFX><STMTRS><CURDEF>EUR<STMTTRN><DTPOSTED>20250131<TRNAMT>-1,50<FITID>A<NAME>Caf\u00e9</STMTTRN></STMTRS></OFX>';
    const file = await readChosenFile('a.csv', new Blob([Buffer.from(text, 'latin1')]));
    if (!file.ok) throw new Error(file.problem.code);
    expect(file.value).toMatchObject({
      format: 'ofx',
      encoding: 'windows-1252',
      table: { rows: [{ cells: ['20250131', '-1,50', 'Café', '', 'EUR', 'A', ''] }] },
    });
    expect(guessFormats(file.value)).toMatchObject({
      dateOrder: 'year-month-day',
      dateOrderOpen: false,
      decimalMark: 'comma',
      decimalMarkOpen: false,
    });
    await expect(readChosenFile('a.ofx', new Blob([text.slice(0, -10)]))).resolves.toMatchObject({
      ok: false,
      problem: { code: 'file-cut-off' },
    });
    await expect(readChosenFile('a.ofx', new Blob(['Date,Payee,Amount\n2025-01-31,Rent,-1\n']))).resolves.toMatchObject(
      { ok: true, value: { format: 'csv' } },
    );
  });

  it.each([
    ['a point with three decimals', ['-1.500', '-20'], { decimalMark: 'point', decimalMarkOpen: false }],
    ['a comma with three decimals', ['-1,500', '-20'], { decimalMark: 'comma', decimalMarkOpen: false }],
    ['whole amounts', ['-1500', '20'], { decimalMark: 'point', decimalMarkOpen: false }],
    ['both marks', ['-1.500', '-1,500'], { decimalMark: 'comma', decimalMarkOpen: true }],
  ])('in OFX, which does not group thousands, has the decimal mark of %s', async (_name, amounts, expected) => {
    const entries = amounts.map(
      (amount, index) => `<STMTTRN><DTPOSTED>20250131<TRNAMT>${amount}<FITID>${index}</STMTTRN>`,
    );
    const text = `OFXHEADER:100\n\n<OFX><STMTRS>${entries.join('')}</STMTRS></OFX>`;
    const file = await readChosenFile('a.ofx', new Blob([text]));
    if (!file.ok) throw new Error(file.problem.code);
    expect(guessFormats(file.value)).toMatchObject(expected);
  });

  it('in QIF, which may group thousands, leaves an ambiguous decimal mark undecided', async () => {
    const file = await readChosenFile('a.qif', new Blob(['!Type:Bank\nD2025-01-31\nT-1.500\nPRent\n^\n']));
    if (!file.ok) throw new Error(file.problem.code);
    expect(guessFormats(file.value)).toMatchObject({ decimalMarkOpen: true });
  });

  it('in QIF has the name of the account, and categories without the classes and accounts of transfers', async () => {
    const entry = (category: string): string => `D2025-01-31\nT-1\nPRent\nL${category}\n^\n`;
    const entries = ['Home:Rent/2025', '[Savings]', 'Food'].map(entry).join('');
    const file = await readChosenFile('a.qif', new Blob([`!Account\nNGiro\nTBank\n^\n!Type:Bank\n${entries}`]));
    if (!file.ok) throw new Error(file.problem.code);
    expect(file.value.statements.map(({ accountNumber }) => accountNumber)).toEqual(['Giro']);
    const { category } = statementColumns;
    expect(file.value.table.rows.map(({ cells }) => cells[category ?? -1])).toEqual(['Home:Rent', '', 'Food']);
  });

  it.each([
    ['<AcctSvcrRef>20250131/7</AcctSvcrRef><NtryRef>1</NtryRef>', '20250131/7'],
    ['<NtryRef>2025013100001</NtryRef>', '2025013100001'],
    // Counts the entries of this one statement.
    ['<NtryRef>1</NtryRef>', ''],
    ['<NtryRef>0000001</NtryRef>', ''],
    // Banks that have no reference write these in every statement.
    ['<AcctSvcrRef>NOTPROVIDED</AcctSvcrRef><NtryRef>2025013100001</NtryRef>', '2025013100001'],
    ['<AcctSvcrRef>NONREF</AcctSvcrRef>', ''],
  ])('in CAMT takes a reference that is unique among statements: %s', async (references, bankId) => {
    const entry = `<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2025-01-31</Dt></BookgDt>${references}</Ntry>`;
    const text = `<Document><BkToCstmrStmt><Stmt>${entry}</Stmt></BkToCstmrStmt></Document>`;
    const file = await readChosenFile('a.xml', new Blob([text]));
    if (!file.ok) throw new Error(file.problem.code);
    expect(file.value.table.rows.map(({ cells }) => cells[statementColumns.bankId ?? -1])).toEqual([bankId]);
  });

  it('in CAMT keeps what only a payment of a batch says, and tells payments without a reference apart', async () => {
    const payment = (amount: string, words: string): string =>
      `<TxDtls><Refs><AcctSvcrRef>NOTPROVIDED</AcctSvcrRef></Refs><Amt Ccy="EUR">${amount}</Amt><AddtlTxInf>${words}</AddtlTxInf></TxDtls>`;
    const details = `<NtryDtls>${payment('1.00', 'Card 1')}</NtryDtls><NtryDtls>${payment('2.00', 'Card 2')}</NtryDtls>`;
    const entry = `<Ntry><Amt Ccy="EUR">3.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2025-01-31</Dt></BookgDt><AcctSvcrRef>R7</AcctSvcrRef>${details}<AddtlNtryInf>Cards</AddtlNtryInf></Ntry>`;
    const file = await readChosenFile(
      'a.xml',
      new Blob([`<Document><BkToCstmrStmt><Stmt>${entry}</Stmt></BkToCstmrStmt></Document>`]),
    );
    if (!file.ok) throw new Error(file.problem.code);
    expect(file.value.table.rows.map(({ cells }) => cells)).toEqual([
      ['2025-01-31', '-1.00', 'Cards', 'Card 1', 'EUR', 'R7/1', ''],
      ['2025-01-31', '-2.00', 'Cards', 'Card 2', 'EUR', 'R7/2', ''],
    ]);
  });

  it('is rejected unread if it is too large', async () => {
    const huge = {
      size: maxFileBytes + 1,
      arrayBuffer: () => Promise.reject(new Error('the file was read')),
    } as unknown as Blob;
    await expect(readChosenFile('a.csv', huge)).resolves.toMatchObject({
      ok: false,
      problem: { code: 'file-too-large' },
    });
  });
});
