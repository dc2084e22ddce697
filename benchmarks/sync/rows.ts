/** About 120 bytes, like an entry of a household's ledger. */
export interface LedgerRow {
  readonly id: string;
  readonly account: string;
  readonly payee: string;
  readonly amountMinor: number;
  readonly day: string;
  readonly notes: string;
}

const WORDS =
  'alpha bravo coffee delta echo foxtrot grocery hotel india juliet kilo lima market november oscar papa quebec romeo sierra tango rent salary fuel train lunch dinner books phone water power cinema gym bakery'.split(
    ' ',
  );
// Ids are 16 bytes in base64url, as some libraries require: only two bits of the last letter count.
const LAST_LETTERS = 'AQgw';
const ID_LETTERS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-';

/** The same row for the same number, in every process. */
export function ledgerRow(index: number): LedgerRow {
  const random = randomFrom(index);
  const text = (length: number): string => {
    let words = '';
    while (words.length < length) words += `${WORDS[random() % WORDS.length]} `;
    return words.slice(0, length);
  };
  let id = '';
  for (let i = 0; i < 21; i++) id += ID_LETTERS[random() % ID_LETTERS.length];
  id += LAST_LETTERS[random() % LAST_LETTERS.length];
  const day = `20${10 + (random() % 16)}-0${1 + (random() % 9)}-${10 + (random() % 18)}`;
  return {
    id,
    account: text(20),
    payee: text(30),
    amountMinor: (random() % 2_000_000) - 1_000_000,
    day,
    notes: text(40),
  };
}

export function ledgerRows(from: number, count: number): LedgerRow[] {
  return Array.from({ length: count }, (_, i) => ledgerRow(from + i));
}

/** Mulberry32: whole numbers of 32 bits. */
function randomFrom(seed: number): () => number {
  let state = (seed * 7919 + 1) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return (bits ^ (bits >>> 14)) >>> 0;
  };
}
