import { fail, succeed, type Result } from '../../result.ts';
import type { FileProblem } from '../file/problem.ts';
import { maxRows } from '../file/table.ts';
import { statementHeader, withCheckNumber, type Statement } from '../statement.ts';

/**
 * Whether the text is a QIF file, as exported by Quicken and many banks. It begins with a line such as `!Type:Bank`.
 */
export function isQif(text: string): boolean {
  return /^\s*!(type|account|option|clear)\b/i.test(text);
}

/** The types of lists that hold a ledger's entries; others hold categories, securities and the like. */
const entryTypes = /^!type:\s*(bank|cash|ccard|oth a|oth l)\b/i;

/**
 * Reads the entries of a QIF file, one statement for each account. A line is a letter and its value, and `^` ends an
 * entry. Dates keep the order of the program that wrote them, which the file does not name.
 */
export function readQif(text: string): Result<readonly Statement[], FileProblem> {
  const statements: { accountNumber: string; rows: string[][] }[] = [];
  let accountName = '';
  let section: 'entries' | 'account' | 'other' = 'other';
  let fields = new Map<string, string>();
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.startsWith('!')) {
      section = entryTypes.test(line) ? 'entries' : /^!account/i.test(line) ? 'account' : 'other';
      if (section === 'entries') statements.push({ accountNumber: accountName, rows: [] });
      fields = new Map();
    } else if (line.startsWith('^')) {
      if (section === 'account') accountName = fields.get('N') ?? '';
      else if (section === 'entries' && fields.size > 0) statements.at(-1)?.rows.push(cellsOf(fields));
      fields = new Map();
    } else if (line !== '') {
      const name = line.slice(0, 1).toUpperCase();
      if (!fields.has(name)) fields.set(name, line.slice(1).trim());
    }
  }
  // The end mark of the last entry is missing, so other entries may be missing too.
  if (section === 'entries' && fields.size > 0) return fail({ code: 'file-cut-off' });
  const filled = statements.filter(({ rows }) => rows.length > 0);
  if (filled.length === 0) return fail({ code: 'file-has-no-entries' });
  const most = Math.max(...filled.map(({ rows }) => rows.length));
  if (most > maxRows) return fail({ code: 'file-too-many-rows', rowCount: most, maxRows });
  return succeed(
    filled.map(({ accountNumber, rows }) => ({
      accountNumber,
      pendingCount: 0,
      table: {
        delimiter: null,
        header: statementHeader,
        hasHeader: true,
        rows: rows.map((cells, index) => ({ rowNumber: index + 1, cells })),
      },
    })),
  );
}

function cellsOf(fields: ReadonlyMap<string, string>): string[] {
  const payee = fields.get('P') ?? '';
  const memo = fields.get('M') ?? '';
  const number = /^\d+$/.test(fields.get('N') ?? '') ? (fields.get('N') ?? '') : '';
  const category = fields.get('L') ?? '';
  return [
    (fields.get('D') ?? '').replace(/\s/g, ''),
    fields.get('T') ?? fields.get('U') ?? '',
    payee === '' ? memo : payee,
    withCheckNumber(payee === '' ? '' : memo, number),
    '',
    '',
    // `[Savings]` is the other account of a transfer; `Food/2024` has a class after the slash.
    category.startsWith('[') ? '' : category.replace(/\/[^:]*$/, ''),
  ];
}
