import { looksLikeAmount, looksLikeDate } from '../file/cell-shape.ts';
import type { Table } from '../file/table.ts';

/**
 * The column of each role, counted from 0; null if there is none. Amounts are in one column, or in one for money out
 * and one for money in.
 */
export interface ColumnChoice {
  readonly date: number | null;
  readonly amount: number | null;
  readonly debit: number | null;
  readonly credit: number | null;
  /** The column that says whether an unsigned amount is a debit or a credit. */
  readonly direction: number | null;
  readonly payee: number | null;
  readonly notes: number | null;
  readonly currency: number | null;
  /** The bank's own id of an entry. */
  readonly bankId: number | null;
  /** The name of a category. */
  readonly category: number | null;
}

export type ColumnRole = keyof ColumnChoice;

/** Words in banks' headers, in several languages, the most specific first. */
const wordsByRole: Readonly<Record<ColumnRole, readonly RegExp[]>> = {
  date: [
    /^(booking|posting|posted|transaction|trans\.?) ?date$/,
    /^(buchungstag|buchungsdatum|buchung)$/,
    /^(date|datum|fecha|data|dato|datum bokföring)\b/,
    /\bdate\b|datum|valuta|wertstellung|fecha|дата|日付|取引日|日期|거래일/,
  ],
  amount: [
    /^(amount|betrag|umsatz|montant|importe|importo|bedrag|belopp|kwota|valor|beløb)\b/,
    /amount|betrag|montant|importe|bedrag|belopp|kwota|сумма|金額|金额|금액/,
  ],
  debit: [
    /^(debit|withdrawal|paid out|money out|soll|belastung|débit|cargo|addebito|ausgang)/,
    /debit|withdrawal|paid out|money out|расход|списание|出金|支払|支出|取款|借方|출금/,
  ],
  credit: [
    /^(credit|deposit|paid in|money in|haben|gutschrift|crédit|abono|accredito|eingang)/,
    /credit|deposit|paid in|money in|приход|зачисление|入金|預|收入|存入|存款|贷方|貸方|입금/,
  ],
  direction: [/.*/],
  category: [
    /^(category|kategorie|catégorie|categoría|categoria|categorie|kategoria)\b/,
    /^(sub-?category|envelope)\b/,
  ],
  payee: [
    /^(payee|merchant|counterparty|beneficiary|name)\b/,
    /auftraggeber|empf[aä]nger|beg[uü]nstigt|zahlungsbeteiligter|bénéficiaire|beneficiario|ontvanger|mottagare|kontrahent/,
    /^(description|libellé|bezeichnung|concepto|descrizione|omschrijving|tekst|opis)/,
    /описание|摘要|对方|對方|적요|내용/,
  ],
  notes: [
    /^(notes?|memo|details|comment|remarks)\b/,
    /verwendungszweck|purpose|reference|communication|causale|mededeling|meddelande|tytuł|buchungstext/,
  ],
  currency: [/^(currency|w[aä]hrung|devise|divisa|valuta|moneda|waluta|ccy|валюта|通貨|币种|幣別|통화)$/],
  bankId: [/^(fitid|transaction id|transaktions-?id|unique id)$/],
};

/** A running balance looks like an amount but is not one. */
const balanceWords = /balance|saldo|kontostand|solde|остаток|残高|余额|餘額|잔액/;

const sampleRows = 200;

/** Guesses each column's role from its name and its cells. The user sees the guess and may change it. */
export function guessColumns(table: Table): ColumnChoice {
  const shapes = table.header.map((name, column) => shapeOf(table, name, column));
  const taken = new Set<number>();
  const pick = (role: ColumnRole, fits: (shape: ColumnShape) => boolean, byContent: boolean): number | null => {
    const free = shapes.filter((shape) => !taken.has(shape.column) && fits(shape));
    let chosen: ColumnShape | undefined;
    for (const words of wordsByRole[role]) chosen ??= free.find((shape) => words.test(shape.name));
    if (chosen === undefined && byContent) chosen = free[0];
    if (chosen === undefined) return null;
    taken.add(chosen.column);
    return chosen.column;
  };
  // A column called "Date" is a date column even if most of its cells are unreadable: the rows then each report the
  // problem.
  const isNamed =
    (role: ColumnRole) =>
    (shape: ColumnShape): boolean =>
      wordsByRole[role].slice(0, -1).some((words) => words.test(shape.name));
  const date = pick('date', (shape) => shape.dateShare > 0.5, true) ?? pick('date', isNamed('date'), true);
  const currency = pick('currency', (shape) => shape.currencyShare > 0.5, false);
  const isMoney = (shape: ColumnShape): boolean =>
    shape.amountShare > 0.5 && shape.dateShare <= 0.5 && !balanceWords.test(shape.name);
  const isSideOfMoney = (shape: ColumnShape): boolean => isMoney(shape) && shape.filledShare > 0;
  const debit = pick('debit', isSideOfMoney, false);
  const credit = pick('credit', isSideOfMoney, false);
  const twoSided = debit !== null && credit !== null;
  if (!twoSided) [debit, credit].forEach((column) => column !== null && taken.delete(column));
  const amount = twoSided ? null : (pick('amount', isMoney, true) ?? pick('amount', isNamed('amount'), true));
  const direction =
    amount !== null && isUnsigned(table, amount)
      ? pick('direction', (shape) => shape.directionShare === 1, true)
      : null;
  const category = pick('category', (shape) => shape.textShare > 0.3, false);
  const payee = pick('payee', (shape) => shape.textShare > 0.3, false) ?? pickWordiest(shapes, taken);
  const notes = pick('notes', (shape) => shape.textShare > 0, false);
  const bankId = pick('bankId', (shape) => shape.filledShare === 1, false);
  return {
    date,
    amount,
    debit: twoSided ? debit : null,
    credit: twoSided ? credit : null,
    direction,
    payee,
    notes,
    currency,
    bankId,
    category,
  };
}

interface ColumnShape {
  readonly column: number;
  readonly name: string;
  /** Shares of the filled cells, from 0 to 1; `filledShare` is the share of all cells. */
  readonly dateShare: number;
  readonly amountShare: number;
  readonly currencyShare: number;
  readonly textShare: number;
  readonly directionShare: number;
  readonly filledShare: number;
  readonly distinct: number;
}

function shapeOf(table: Table, name: string, column: number): ColumnShape {
  const cells = table.rows.slice(0, sampleRows).map((row) => row.cells[column] ?? '');
  const filled = cells.filter((cell) => cell !== '');
  const share = (fits: (cell: string) => boolean): number =>
    filled.length === 0 ? 0 : filled.filter(fits).length / filled.length;
  return {
    column,
    name: name.toLowerCase().trim(),
    dateShare: share(looksLikeDate),
    amountShare: share(looksLikeAmount),
    currencyShare: share((cell) => /^[A-Z]{3}$/.test(cell)),
    directionShare: share((cell) => directionOf(cell) !== undefined),
    textShare: share((cell) => /\p{L}{3}/u.test(cell)),
    filledShare: cells.length === 0 ? 0 : filled.length / cells.length,
    distinct: new Set(filled).size,
  };
}

const outWords = /^(dr|d|db|dbit|debit|debet|debito|débit|soll|s|af|out|-)\.?$/i;
const inWords = /^(cr|c|crdt|credit|kredit|credito|crédit|haben|h|bij|in|\+)\.?$/i;

/** The direction that a cell states for the amount beside it; undefined for any other text. */
export function directionOf(cell: string): 'out' | 'in' | undefined {
  const text = cell.trim();
  return outWords.test(text) ? 'out' : inWords.test(text) ? 'in' : undefined;
}

/** Banks that sign their amounts may also name the direction, which then adds no information. */
function isUnsigned(table: Table, column: number): boolean {
  return !table.rows.some((row) => /^\s*[(\-\u2212]|-\s*$/u.test(row.cells[column] ?? ''));
}

/** Without a recognised name, the payee is the text column with the most distinct values. */
function pickWordiest(shapes: readonly ColumnShape[], taken: Set<number>): number | null {
  const texts = shapes.filter((shape) => !taken.has(shape.column) && shape.textShare > 0.5);
  const wordiest = texts.sort((a, b) => b.distinct - a.distinct)[0];
  if (wordiest === undefined) return null;
  taken.add(wordiest.column);
  return wordiest.column;
}

/** Whether the date and amount columns are chosen. */
export function isComplete(columns: ColumnChoice): boolean {
  return columns.date !== null && (columns.amount !== null || columns.debit !== null || columns.credit !== null);
}
