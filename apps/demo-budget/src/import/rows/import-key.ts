/**
 * The identity of an imported row, by which a second import of the same statement is detected: account, day, amount,
 * payee, and the row's ordinal among rows of the file with all of these equal (two equal coffees stay two entries). It
 * is also the id of the ledger entry, so two people who import the same statement offline end up with one set of rows.
 *
 * The key must never change: rows stored by an older release would no longer be recognised. It contains the amount in
 * minor units, so it has changed where a release changed the decimals of a currency, and where one changed how CAMT
 * entries or placeholders of bank ids are read (README.md names them).
 */
export interface ImportIdentity {
  readonly accountId: string;
  readonly date: string;
  readonly amountMinor: number;
  readonly payee: string;
  /** 1 for the first such row of the file. */
  readonly occurrence: number;
}

/**
 * The identity of a row that has a bank id: the bank id alone, so that the row is recognised when the bank corrects a
 * date or a name. Some banks use an id twice; the second such row of a file is a separate entry.
 */
export interface BankIdentity {
  readonly accountId: string;
  readonly bankId: string;
  /** 1 for the first such row of the file. */
  readonly occurrence: number;
}

export function importKey(identity: ImportIdentity | BankIdentity): string {
  if ('bankId' in identity) return hashed([identity.accountId, 'bank', identity.bankId, String(identity.occurrence)]);
  const payee = identity.payee.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const fields = [identity.accountId, identity.date, String(identity.amountMinor), payee, String(identity.occurrence)];
  return hashed(fields);
}

function hashed(fields: readonly string[]): string {
  return `imported-${fnv1a128(fields.join('\u001f'))}`;
}

// FNV-1a with 128 bits (http://www.isthe.com/chongo/tech/comp/fnv/). It need not be secure: it makes keys short and
// equally long, with negligible odds of a collision among 100,000 rows.
const offsetBasis = 0x6c62272e07bb014262b821756295c58dn;
const prime = 0x0000000001000000000000000000013bn;

/** 32 hexadecimal digits over the text's UTF-8 bytes. */
export function fnv1a128(text: string): string {
  let hash = offsetBasis;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * prime);
  return hash.toString(16).padStart(32, '0');
}
