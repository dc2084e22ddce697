import { parseAmount } from '../../money/parse.ts';
import { fail, succeed, type Result } from '../../result.ts';
import type { FileProblem } from '../file/problem.ts';
import { maxRows } from '../file/table.ts';
import { bankIdOf } from '../rows/bank-id.ts';
import { statementHeader, type Statement } from '../statement.ts';
import { childOf, childrenOf, parseXml, textAt, type XmlElement } from './xml.ts';

/** Whether the text is an ISO 20022 account report (camt.052) or statement (camt.053) in XML. */
export function isCamt(text: string): boolean {
  return /<(?:\w+:)?(?:BkToCstmrStmt|BkToCstmrAcctRpt)\b/.test(text.slice(0, 4_000));
}

/**
 * Reads the booked entries of every account in the file. A batch entry is replaced by its payments if they add up to
 * its amount.
 */
export function readCamt(text: string): Result<readonly Statement[], FileProblem> {
  const root = parseXml(text);
  if (root === undefined) return fail({ code: 'file-cut-off' });
  const message = childOf(root, 'BkToCstmrStmt') ?? childOf(root, 'BkToCstmrAcctRpt');
  if (message === undefined) return fail({ code: 'file-has-no-entries' });
  const statements = [...childrenOf(message, 'Stmt'), ...childrenOf(message, 'Rpt')].map(readStatement);
  const filled = statements.filter(({ table }) => table.rows.length > 0);
  if (filled.length === 0) return fail({ code: 'file-has-no-entries' });
  const most = Math.max(...filled.map(({ table }) => table.rows.length));
  return most > maxRows ? fail({ code: 'file-too-many-rows', rowCount: most, maxRows }) : succeed(filled);
}

function readStatement(statement: XmlElement): Statement {
  const account = textAt(statement, 'Acct', 'Id', 'IBAN') || textAt(statement, 'Acct', 'Id', 'Othr', 'Id');
  const entries = childrenOf(statement, 'Ntry');
  const booked = entries.filter((entry) => statusOf(entry) === 'BOOK');
  const rows = booked.flatMap(rowsOfEntry).map((cells, index) => ({ rowNumber: index + 1, cells }));
  return {
    accountNumber: account.slice(-4),
    pendingCount: entries.length - booked.length,
    table: { delimiter: null, header: statementHeader, hasHeader: true, rows },
  };
}

/** Older versions of the format have the code as text, newer versions in a separate element. */
function statusOf(entry: XmlElement): string {
  const status = childOf(entry, 'Sts');
  if (status === undefined) return 'BOOK';
  return textAt(status, 'Cd') || textAt(status, 'Prtry') || status.text.trim() || 'BOOK';
}

function rowsOfEntry(entry: XmlElement): string[][] {
  const payments = childrenOf(entry, 'NtryDtls').flatMap((details) => childrenOf(details, 'TxDtls'));
  const date = dayAt(entry, 'BookgDt') || dayAt(entry, 'ValDt');
  const reference = bankIdOf(textAt(entry, 'AcctSvcrRef')) || numberOf(entry);
  if (payments.length > 1 && addUp(entry, payments))
    return payments.map((payment, index) =>
      cellsOf(payment, entry, date, bankIdOf(textAt(payment, 'Refs', 'AcctSvcrRef')) || numbered(reference, index)),
    );
  const cells = payments.length > 1 ? cellsOfBatch(payments, entry, date) : cellsOf(payments[0] ?? entry, entry, date);
  // The amount of the whole entry, not of its one payment, which may be in another currency.
  const whole = childOf(entry, 'Amt');
  cells[1] = signed(entry, whole);
  cells[4] = whole?.attributes.get('Ccy') ?? '';
  cells[5] = reference;
  return [cells];
}

/** The entry's own reference. Empty for a short number: many banks count from 1 in every statement. */
function numberOf(entry: XmlElement): string {
  const number = textAt(entry, 'NtryRef');
  return /^0*\d{1,6}$/.test(number) ? '' : bankIdOf(number);
}

function numbered(reference: string, index: number): string {
  return reference === '' ? '' : `${reference}/${index + 1}`;
}

/**
 * A batch that stays one row has the payee of its payments if it is the same for all. Otherwise it has the bank's text
 * for the batch, and the payees as its memo.
 */
function cellsOfBatch(payments: readonly XmlElement[], entry: XmlElement, date: string): string[] {
  const [first = [], ...others] = payments.map((payment) => cellsOf(payment, entry, date));
  const payees = new Set([first, ...others].map((cells) => cells[2] ?? ''));
  if (payees.size === 1) return first;
  const cells = cellsOf(entry, entry, date);
  cells[3] = [...payees].filter((payee) => payee !== '').join(', ');
  return cells;
}

function cellsOf(payment: XmlElement, entry: XmlElement, date: string, reference = ''): string[] {
  const directed = directedOf(payment, entry);
  const amount = amountOf(payment) ?? childOf(entry, 'Amt');
  const isOut = isDebit(directed);
  // A reversal exchanges the parties: the payer of the original payment receives the money.
  const isReversal = textAt(entry, 'RvslInd') === 'true';
  const party = isOut === isReversal ? 'Dbtr' : 'Cdtr';
  const payee = nameOfParty(payment, `Ultmt${party}`) || nameOfParty(payment, party);
  const remittance = childOf(payment, 'RmtInf');
  const remitted = [
    ...(remittance === undefined ? [] : childrenOf(remittance, 'Ustrd').map(({ text }) => text.trim())),
    textAt(payment, 'RmtInf', 'Strd', 'CdtrRefInf', 'Ref'),
  ]
    .filter((line) => line !== '')
    .join(' ');
  const memo = remitted || textAt(payment, 'AddtlTxInf');
  const info = textAt(entry, 'AddtlNtryInf');
  return [
    date,
    signed(directed, amount),
    payee || info || memo,
    payee === '' ? (info === '' ? '' : memo) : memo || info,
    amount?.attributes.get('Ccy') ?? '',
    reference,
    '',
  ];
}

/** Since version 8 of the format, a party is a person or organisation (`Pty`) or a bank (`Agt`). */
function nameOfParty(payment: XmlElement, party: string): string {
  return (
    textAt(payment, 'RltdPties', party, 'Nm') ||
    textAt(payment, 'RltdPties', party, 'Pty', 'Nm') ||
    textAt(payment, 'RltdPties', party, 'Agt', 'FinInstnId', 'Nm')
  );
}

function amountOf(payment: XmlElement): XmlElement | undefined {
  const details = childOf(payment, 'AmtDtls');
  const amount = details === undefined ? undefined : childOf(details, 'TxAmt');
  return childOf(payment, 'Amt') ?? (amount === undefined ? undefined : childOf(amount, 'Amt'));
}

function addUp(entry: XmlElement, payments: readonly XmlElement[]): boolean {
  const whole = childOf(entry, 'Amt');
  const currency = whole?.attributes.get('Ccy') ?? '';
  if (whole === undefined || currency === '') return false;
  const minorOf = (directed: XmlElement, amount: XmlElement | undefined): number => {
    if (amount === undefined || amount.attributes.get('Ccy') !== currency) return Number.NaN;
    const parsed = parseAmount(signed(directed, amount), currency, 'point');
    return parsed.ok ? parsed.value : Number.NaN;
  };
  const sum = payments.reduce((total, payment) => total + minorOf(directedOf(payment, entry), amountOf(payment)), 0);
  return sum === minorOf(entry, whole);
}

/** The element with the direction of a payment: a batch may contain both. Without its own, it has that of the entry. */
function directedOf(payment: XmlElement, entry: XmlElement): XmlElement {
  return childOf(payment, 'CdtDbtInd') === undefined ? entry : payment;
}

function isDebit(directed: XmlElement): boolean {
  return textAt(directed, 'CdtDbtInd') === 'DBIT';
}

function signed(directed: XmlElement, amount: XmlElement | undefined): string {
  const text = amount?.text.trim() ?? '';
  return isDebit(directed) ? `-${text}` : text;
}

function dayAt(entry: XmlElement, name: string): string {
  return (textAt(entry, name, 'Dt') || textAt(entry, name, 'DtTm')).slice(0, 10);
}
