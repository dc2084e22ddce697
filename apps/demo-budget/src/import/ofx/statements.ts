import { fail, succeed, type Result } from '../../result.ts';
import type { FileProblem } from '../file/problem.ts';
import { maxRows, type Table } from '../file/table.ts';
import { statementHeader, withCheckNumber, type Statement } from '../statement.ts';
import { readElements } from './elements.ts';

/**
 * Whether the text is an OFX or QFX file, whatever the file's name: OFX 1.x begins with its own header, and both
 * versions have the element `OFX`.
 */
export function isOfx(text: string): boolean {
  return /^\s*OFXHEADER\s*:/i.test(text) || /<OFX>/i.test(text.slice(0, 4_000));
}

/**
 * Reads the bank and credit-card statements of an OFX file. Rejects a truncated file, because any number of entries may
 * be missing.
 */
export function readStatements(text: string): Result<readonly Statement[], FileProblem> {
  if (!/<\/OFX>\s*$/i.test(text)) return fail({ code: 'file-cut-off' });
  const statements: OpenStatement[] = [];
  let entry: Map<string, string> | null = null;
  /** The aggregate inside the entry, such as PAYEE or CURRENCY. */
  let inside = '';
  for (const piece of readElements(text)) {
    if (piece.kind === 'begin') {
      if (piece.name === 'STMTRS' || piece.name === 'CCSTMTRS')
        statements.push({ accountNumber: '', currency: '', entries: [] });
      else if (piece.name === 'STMTTRN') statements.at(-1)?.entries.push((entry = new Map()));
      inside = entry === null || piece.name === 'STMTTRN' ? '' : piece.name;
    } else if (piece.kind === 'end') {
      if (piece.name === 'STMTTRN') entry = null;
      if (piece.name === inside) inside = '';
    } else if (piece.kind === 'value' && entry !== null) {
      const name = inside === '' || inside === 'PAYEE' ? piece.name : `${inside}.${piece.name}`;
      if (!entry.has(name)) entry.set(name, piece.value);
    } else if (piece.kind === 'value') {
      const statement = statements.at(-1);
      if (piece.name === 'ACCTID' && statement?.accountNumber === '') statement.accountNumber = piece.value.slice(-4);
      if (piece.name === 'CURDEF' && statement !== undefined) statement.currency = piece.value;
    }
  }
  const filled = statements.filter(({ entries }) => entries.length > 0);
  if (filled.length === 0)
    return fail({ code: /<SEVERITY>\s*ERROR/i.test(text) ? 'file-is-refusal' : 'file-has-no-entries' });
  const most = Math.max(...filled.map(({ entries }) => entries.length));
  if (most > maxRows) return fail({ code: 'file-too-many-rows', rowCount: most, maxRows });
  return succeed(
    filled.map(({ accountNumber, currency, entries }) => ({
      accountNumber,
      pendingCount: 0,
      table: tableOf(entries, currency),
    })),
  );
}

interface OpenStatement {
  accountNumber: string;
  currency: string;
  readonly entries: Map<string, string>[];
}

function tableOf(entries: readonly ReadonlyMap<string, string>[], currency: string): Table {
  const rows = entries.map((entry, index) => {
    // `20250131120000.000[-5:EST]`: the day is in the bank's local time, so the rest is ignored.
    const date = (entry.get('DTPOSTED') ?? '').slice(0, 8);
    const payee = entry.get('NAME') ?? '';
    const memo = entry.get('MEMO') ?? '';
    const cells = [
      date,
      entry.get('TRNAMT') ?? '',
      payee === '' ? memo : payee,
      withCheckNumber(payee === '' || memo === payee ? '' : memo, entry.get('CHECKNUM') ?? ''),
      entry.get('CURRENCY.CURSYM') ?? currency,
      entry.get('FITID') ?? '',
      '',
    ];
    return { rowNumber: index + 1, cells };
  });
  return { delimiter: null, header: statementHeader, hasHeader: true, rows };
}
