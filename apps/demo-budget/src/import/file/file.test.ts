import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeFile, maxFileBytes } from './decode.ts';
import { recogniseDelimiter } from './delimiter.ts';
import { fileProblemSentence, type FileProblem } from './problem.ts';
import { maxRows, readTable } from './table.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const statement = 'Date;Payee;Amount\n31.01.2025;Café Ö;-3,50\n01.02.2025;Rent;-900,00\n';

async function problemOf(bytes: Uint8Array): Promise<FileProblem | undefined> {
  const decoded = await decodeFile(bytes);
  if (!decoded.ok) return decoded.problem;
  const table = readTable(decoded.value.text);
  return table.ok ? undefined : table.problem;
}

describe('decoding a file', () => {
  it.each([
    ['UTF-8', utf8(statement), 'utf-8'],
    ['UTF-8 with a byte order mark', utf8(`\ufeff${statement}`), 'utf-8'],
    ['Windows-1252', new Uint8Array(Buffer.from(statement, 'latin1')), 'windows-1252'],
    ['UTF-16 with a byte order mark', new Uint8Array(Buffer.from(`\ufeff${statement}`, 'utf16le')), 'utf-16le'],
  ])('reads %s', async (_, bytes, encoding) => {
    expect(await decodeFile(bytes)).toEqual({ ok: true, value: { text: statement, encoding, unreadableCount: 0 } });
  });

  it('reads the euro sign, which Windows-1252 has and Latin-1 lacks', async () => {
    const decoded = await decodeFile(new Uint8Array([...utf8('a;'), 0x80, 0x0a]));
    expect(decoded).toMatchObject({ ok: true, value: { text: 'a;€\n' } });
  });

  it.each([
    ['an empty file', new Uint8Array(), { code: 'file-empty' }],
    ['a file of blank lines', utf8('\n \n\t\n'), { code: 'file-empty' }],
    [
      'a spreadsheet',
      new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0x14]),
      { code: 'file-not-text', looksLike: 'spreadsheet' },
    ],
    ['a PDF', utf8('%PDF-1.7\n'), { code: 'file-not-text', looksLike: 'pdf' }],
    ['a picture', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d]), { code: 'file-not-text', looksLike: 'image' }],
    ['random bytes', new Uint8Array([0x31, 0x00, 0x02, 0xfe]), { code: 'file-not-text', looksLike: 'unknown' }],
    [
      'UTF-16 cut in the middle of a character',
      new Uint8Array([0xff, 0xfe, 0x31]),
      { code: 'file-not-text', looksLike: 'unknown' },
    ],
    ['a web page', utf8('\n<!DOCTYPE html><html><body>Please log in</body></html>'), { code: 'file-is-web-page' }],
    ['a web page with an XML line', utf8('<?xml version="1.0"?>\n<html></html>'), { code: 'file-is-web-page' }],
    ['prose', utf8('Dear customer\nyour export is not ready\n'), { code: 'file-not-a-table' }],
    ['one column', utf8('Amount\n3.50\n4.50\n'), { code: 'file-not-a-table' }],
    [
      'a quote that never closes',
      utf8('Date,Payee,Amount\n2025-01-01,A,1\n2025-01-02,"B,2\n2025-01-03,C,3\n'),
      { code: 'file-quote-unclosed', rowNumber: 3 },
    ],
    [
      'a quote that closes in a later row',
      utf8('Date,Payee,Amount\n2025-01-01,"A" Inn,1\n2025-01-02,B,2\n2025-01-03,"C",3\n'),
      { code: 'file-quote-unclosed', rowNumber: 2 },
    ],
    [
      'a file over the limit',
      new Uint8Array(maxFileBytes + 1),
      { code: 'file-too-large', sizeBytes: maxFileBytes + 1, maxBytes: maxFileBytes },
    ],
    [
      'too many rows',
      utf8('2025-01-01,1\n'.repeat(maxRows + 1)),
      { code: 'file-too-many-rows', rowCount: maxRows + 1, maxRows },
    ],
  ] as const)('rejects %s with a problem and a sentence', async (_, bytes, problem) => {
    expect(await problemOf(bytes)).toEqual(problem);
    expect(fileProblemSentence(problem)).toMatch(/^[A-Z].*\.$/);
  });
});

describe('detecting the delimiter', () => {
  it.each([
    ['commas', 'Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n', ','],
    ['semicolons beside decimal commas', '01.02.2025;Rent;-900,00\n02.02.2025;Coffee;-3,50\n', ';'],
    ['tabs', '2025-01-31\tCoffee, black\t-3.50\n', '\t'],
    ['commas with semicolons inside a quoted field', '2025-01-31,"a; b; c",-3.50\n2025-02-01,"d; e; f",-4\n', ','],
  ])('finds %s', (_, text, delimiter) => {
    expect(recogniseDelimiter(text)).toBe(delimiter);
  });
});

describe('reading a table', () => {
  it('skips the lines above the header and keeps the row numbers of a spreadsheet', () => {
    const table = readTable(
      'My Bank;;\nAccount:;123;\n\nDate;Payee;Amount\n31.01.2025;Coffee;-3,50\n\n01.02.2025;Rent;-900,00\n',
    );
    expect(table).toEqual({
      ok: true,
      value: {
        delimiter: ';',
        header: ['Date', 'Payee', 'Amount'],
        hasHeader: true,
        rows: [
          { rowNumber: 5, cells: ['31.01.2025', 'Coffee', '-3,50'] },
          { rowNumber: 7, cells: ['01.02.2025', 'Rent', '-900,00'] },
        ],
      },
    });
  });

  it('keeps quotes that are not doubled, if the field ends in its row', () => {
    const table = readTable('Date,Payee,Memo,Amount\n2025-01-01,"Joe"s Diner","two\nlines",-3.50\n');
    expect(table).toMatchObject({
      ok: true,
      value: { rows: [{ cells: ['2025-01-01', 'Joe"s Diner', 'two\nlines', '-3.50'] }] },
    });
  });

  it('keeps line breaks, delimiters and doubled quotes inside a quoted field', () => {
    const table = readTable('Date,Memo,Amount\n2025-01-31,"first\nsecond, ""third""",-3.50\n');
    expect(table).toMatchObject({
      ok: true,
      value: { rows: [{ rowNumber: 2, cells: ['2025-01-31', 'first\nsecond, "third"', '-3.50'] }] },
    });
  });

  it('numbers the columns if the file has no header', () => {
    expect(readTable('2025-01-31,Coffee,-3.50\n')).toMatchObject({
      ok: true,
      value: { hasHeader: false, header: ['Column 1', 'Column 2', 'Column 3'], rows: [{ rowNumber: 1 }] },
    });
  });

  it('suggests the right delimiter if the chosen one is wrong', () => {
    expect(readTable(statement, ',')).toEqual({
      ok: false,
      problem: { code: 'file-wrong-delimiter', delimiter: ',', suggested: ';' },
    });
    expect(readTable(statement, '\t')).toEqual({
      ok: false,
      problem: { code: 'file-wrong-delimiter', delimiter: '\t', suggested: ';' },
    });
    expect(readTable(statement, ';').ok).toBe(true);
    expect(fileProblemSentence({ code: 'file-wrong-delimiter', delimiter: ',', suggested: ';' })).toContain(
      'Try semicolons.',
    );
  });

  it.each([
    ['meridian-giro.csv', 'windows-1252', ';', 355],
    ['harbour-checking.csv', 'utf-8', ',', 2000],
  ])('reads the sample %s', async (name, encoding, delimiter, rowCount) => {
    const decoded = await decodeFile(
      new Uint8Array(readFileSync(new URL(`../../../public/samples/${name}`, import.meta.url))),
    );
    if (!decoded.ok) throw new Error(decoded.problem.code);
    expect(decoded.value.encoding).toBe(encoding);
    const table = readTable(decoded.value.text);
    expect(table).toMatchObject({ ok: true, value: { delimiter, hasHeader: true } });
    expect(table.ok && table.value.rows.length).toBe(rowCount);
  });
});
